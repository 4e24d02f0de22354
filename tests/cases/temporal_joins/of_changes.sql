-- Of a changelog, inserts and updates are versions, and a delete is the end of one. In batch the order of rows is told too.
CREATE TABLE rates (item STRING, rate INT, since TIMESTAMP(3), op STRING, PRIMARY KEY (item) NOT ENFORCED, WATERMARK FOR since AS since)
  WITH ('connector' = 'filesystem', 'path' = 'rates', 'format' = 'json', 'changelog.op' = 'op');
SELECT rate FROM bid AS b JOIN rates FOR SYSTEM_TIME AS OF b.bidtime AS r ON b.item = r.item;
