CREATE TABLE t (a INT PRIMARY KEY NOT ENFORCED) WITH ('changelog.mode' = 'upsert');
