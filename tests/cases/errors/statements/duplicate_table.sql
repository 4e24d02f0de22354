CREATE TABLE bid (a INT) WITH ('connector' = 'print');
