CREATE TABLE rates (item STRING, rate INT, since TIMESTAMP(3), op STRING, WATERMARK FOR since AS since) WITH ('connector' = 'filesystem', 'path' = 'rates', 'format' = 'json', 'changelog.op' = 'op');
CREATE VIEW latest AS SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY item ORDER BY since DESC) AS n FROM rates) WHERE n = 1;
SELECT rate FROM bid AS b JOIN latest FOR SYSTEM_TIME AS OF b.bidtime AS r ON b.item = r.item;
