CREATE TABLE t (a INT) WITH (
    'connector' = 'filesystem',
    'path' = 'x',
    'fromat' = 'csv',
    'format' = 'csv'
);
