CREATE TABLE stock (item STRING, price DECIMAL(10, 2), changed TIMESTAMP(3), WATERMARK FOR changed AS changed)
WITH ('connector' = 'filesystem', 'path' = 'data/stock', 'format' = 'debezium');
