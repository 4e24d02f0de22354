CREATE TABLE t (a ROW<b INT>) WITH ('connector' = 'faker', 'fields.a.b.expression' = '1');
