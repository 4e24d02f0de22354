CREATE TABLE o (item STRING, rowtime TIMESTAMP(3), proc AS PROCTIME(), WATERMARK FOR rowtime AS rowtime) WITH ('connector' = 'filesystem', 'path' = 'o', 'format' = 'json');
SET 'execution.runtime-mode' = 'streaming'; CREATE FUNCTION low AS 'user_functions.initials' LANGUAGE PYTHON; CREATE TABLE d (item STRING, kind STRING);
SELECT kind FROM o JOIN d FOR SYSTEM_TIME AS OF o.proc ON o.item = d.item AND low(d.kind) < o.item;
