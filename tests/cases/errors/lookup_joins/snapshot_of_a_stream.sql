CREATE TABLE d (item STRING, kind STRING) WITH ('connector' = 'kafka', 'topic' = 'd', 'properties.bootstrap.servers' = 'k:9092', 'format' = 'json');
SELECT kind FROM bid AS o JOIN LATERAL SNAPSHOT(TABLE d) AS d ON o.item = d.item;
