CREATE TABLE t (bid ROW<auction BIGINT, prize BIGINT>) WITH ('connector' = 'nexmark');
