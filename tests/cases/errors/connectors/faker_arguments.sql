CREATE TABLE t (a INT) WITH ('connector' = 'faker', 'fields.a.expression' = '#{number.numberBetween ''one''}');
