CREATE TABLE rates (item INT, rate INT, since TIMESTAMP(3), PRIMARY KEY (item) NOT ENFORCED, WATERMARK FOR since AS since) WITH ('connector' = 'filesystem', 'path' = 'rates', 'format' = 'json');
SELECT rate FROM bid JOIN rates FOR SYSTEM_TIME AS OF bidtime USING (item);
