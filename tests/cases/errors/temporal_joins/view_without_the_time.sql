CREATE TABLE rates (item STRING, lot INT, rate INT, since TIMESTAMP(3), PRIMARY KEY (item) NOT ENFORCED, WATERMARK FOR since AS since) WITH ('connector' = 'filesystem', 'path' = 'rates', 'format' = 'json'); CREATE VIEW v AS SELECT item, rate FROM rates;
SELECT rate FROM bid AS b JOIN v FOR SYSTEM_TIME AS OF b.bidtime AS r ON b.item = r.item;
