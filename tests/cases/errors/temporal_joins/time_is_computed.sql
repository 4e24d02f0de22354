CREATE TABLE rates (item STRING, lot INT, rate INT, since TIMESTAMP(3), PRIMARY KEY (item) NOT ENFORCED, WATERMARK FOR since AS since) WITH ('connector' = 'filesystem', 'path' = 'rates', 'format' = 'json');
SELECT rate FROM (SELECT item, bidtime + INTERVAL '1' MINUTE AS later FROM bid) AS b JOIN rates FOR SYSTEM_TIME AS OF b.later AS r ON b.item = r.item;
