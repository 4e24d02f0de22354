SET 'execution.runtime-mode' = 'streaming';
SET 'table.exec.emit.early-fire.enabled' = 'true';
CREATE TABLE sums (op STRING, window_start TIMESTAMP(3), item STRING, n BIGINT,
    PRIMARY KEY (window_start, item) NOT ENFORCED
) WITH (
    'connector' = 'jdbc', 'url' = 'jdbc:postgresql://localhost:5432/shop', 'table-name' = 'public.totals',
    'username' = 'me', 'password' = '${ENV:PGPASSWORD}', 'changelog.op' = 'op'
);
INSERT INTO sums
SELECT window_start, item, COUNT(*) FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, item;
