-- Rows as they stand in the statement, by position; a column that is left out is NULL.
CREATE TABLE prices (item STRING, price DECIMAL(10, 2), bidder BIGINT)
WITH ('connector' = 'filesystem', 'path' = 'prices', 'format' = 'parquet');
INSERT INTO prices (bidder, item) VALUES (1, 'a'), (2, NULL);
