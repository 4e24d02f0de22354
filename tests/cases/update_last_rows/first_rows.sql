-- expect-not: update_last_rows
SET 'execution.runtime-mode' = 'streaming';
SELECT item, price FROM bid QUALIFY ROW_NUMBER() OVER (PARTITION BY item ORDER BY bidtime) = 1;
