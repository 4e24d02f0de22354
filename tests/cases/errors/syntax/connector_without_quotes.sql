CREATE TABLE t (item STRING) WITH ('connector' = blackhole);
