CREATE TABLE orders (a_b ROW<c INT>, a ROW<b ROW<c STRING>>) WITH ('connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'h:1', 'format' = 'avro');
