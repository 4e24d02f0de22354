SET 'execution.runtime-mode' = 'streaming';

CREATE TABLE stock (op STRING, item STRING, changed TIMESTAMP(3), WATERMARK FOR changed AS changed - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = 'data/stock', 'format' = 'csv', 'changelog.op' = 'op');

SELECT item, CURRENT_WATERMARK(changed) AS watermark FROM stock;
