CREATE TABLE t (a INT) WITH ('connector.type' = 'kafka', 'connector.topic' = 't', 'format.type' = 'json');
