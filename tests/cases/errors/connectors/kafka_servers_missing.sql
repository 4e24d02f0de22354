CREATE TABLE t (a INT) WITH (
  'connector' = 'kafka', 'topic' = 'bids', 'format' = 'json'
);
