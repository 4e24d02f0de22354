-- A table of Delta that is named by its folder. Delta's streams only take the folder.
SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE orders (item STRING, n INT) WITH (
    'connector' = 'spark-catalog', 'table-name' = 'delta.`/data/orders`', 'maxFilesPerTrigger' = '2'
);
SELECT item FROM orders;
