CREATE TABLE prices (item STRING, price DECIMAL(10, 2) NOT NULL) WITH ('connector' = 'print');
INSERT INTO prices (item) SELECT item FROM bid;
