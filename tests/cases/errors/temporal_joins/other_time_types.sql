CREATE TABLE rates (item STRING, rate INT, since TIMESTAMP_LTZ(3), PRIMARY KEY (item) NOT ENFORCED, WATERMARK FOR since AS since) WITH ('connector' = 'filesystem', 'path' = 'rates', 'format' = 'json');
SELECT rate FROM bid AS b JOIN rates FOR SYSTEM_TIME AS OF b.bidtime AS r ON b.item = r.item;
