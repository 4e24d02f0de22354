-- Rows of a table of Delta are replaced by its primary key, and op is not stored. The first micro-batch creates it.
SET 'execution.runtime-mode' = 'streaming';
SET 'table.exec.emit.early-fire.enabled' = 'true';
CREATE TABLE counts (op STRING, window_start TIMESTAMP(3), item STRING, n BIGINT,
    PRIMARY KEY (window_start, item) NOT ENFORCED
) PARTITIONED BY (item) WITH (
    'connector' = 'spark-catalog', 'table-name' = 'lake.shop.totals', 'format' = 'delta', 'changelog.op' = 'op'
);
INSERT INTO counts
SELECT window_start, item, COUNT(*) FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, item;
