CREATE TABLE rates (item STRING, lot INT, rate INT, since TIMESTAMP(3), PRIMARY KEY (item) NOT ENFORCED, WATERMARK FOR since AS since) WITH ('connector' = 'filesystem', 'path' = 'rates', 'format' = 'json');
SELECT rate FROM bid AS b JOIN rates FOR SYSTEM_TIME AS OF b.bidtime - INTERVAL '1' MINUTE AS r ON b.item = r.item;
