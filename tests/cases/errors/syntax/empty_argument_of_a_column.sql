CREATE TABLE u (a INT, b AS COALESCE(a,, 1)) WITH ('connector' = 'print');
