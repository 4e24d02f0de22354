CREATE TABLE rates (item STRING, lot INT, rate INT, since TIMESTAMP(3), PRIMARY KEY (item) NOT ENFORCED, WATERMARK FOR since AS since) WITH ('connector' = 'filesystem', 'path' = 'rates', 'format' = 'json');
SELECT rate FROM bid AS b JOIN rates FOR SYSTEM_TIME AS OF TIMESTAMP '2024-01-01 00:00:00' AS r ON b.item = r.item;
