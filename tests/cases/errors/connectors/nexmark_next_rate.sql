CREATE TABLE t (event_type INT) WITH ('connector' = 'nexmark', 'first-event.rate' = '100', 'next-event.rate' = '1000');
