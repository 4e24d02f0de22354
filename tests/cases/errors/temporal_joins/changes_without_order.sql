CREATE TABLE rates (item STRING, rate INT, since TIMESTAMP(3), op STRING, PRIMARY KEY (item) NOT ENFORCED, WATERMARK FOR since AS since) WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://h/db', 'table-name' = 'rates', 'changelog.op' = 'op');
SELECT rate FROM bid AS b JOIN rates FOR SYSTEM_TIME AS OF b.bidtime AS r ON b.item = r.item;
