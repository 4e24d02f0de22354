CREATE TABLE t WITH ('connector' = 'print') AS SELECT FLATTEN(ARRAY(ARRAY(item))) AS x FROM bid;
