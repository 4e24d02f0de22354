CREATE TABLE o (item STRING, rowtime TIMESTAMP(3), proc AS PROCTIME(), WATERMARK FOR rowtime AS rowtime) WITH ('connector' = 'filesystem', 'path' = 'o', 'format' = 'json');
CREATE TABLE d (item STRING, kind STRING); CREATE VIEW v AS SELECT item, MAX(kind) AS kind FROM d GROUP BY item;
SELECT kind FROM o JOIN v FOR SYSTEM_TIME AS OF o.proc ON o.item = v.item;
