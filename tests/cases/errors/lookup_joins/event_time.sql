CREATE TABLE o (item STRING, rowtime TIMESTAMP(3), proc AS PROCTIME(), WATERMARK FOR rowtime AS rowtime) WITH ('connector' = 'filesystem', 'path' = 'o', 'format' = 'json');
CREATE TABLE d (item STRING, kind STRING);
SELECT kind FROM o JOIN d FOR SYSTEM_TIME AS OF o.rowtime ON o.item = d.item;
