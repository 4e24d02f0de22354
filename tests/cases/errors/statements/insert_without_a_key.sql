CREATE TABLE prices (item STRING, price DECIMAL(10, 2), PRIMARY KEY (item) NOT ENFORCED) WITH ('connector' = 'print');
INSERT INTO prices (price) SELECT price FROM bid;
