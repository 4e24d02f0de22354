CREATE TABLE t (a STRING) WITH ('connector' = 'faker', 'fields.a.expression' = '#{Name.fulName}');
