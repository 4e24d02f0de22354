CREATE TABLE z (a INT) WITH ('connector' = 'jdbc', 'url' = 'jdbc:mysql://localhost/db', 'table-name' = 'z',
  'scan.partition.column' = 'a', 'scan.partition.num' = '2', 'scan.partition.lower-bound' = '0', 'scan.partition.upper-bound' = '9');
SELECT a FROM z;
