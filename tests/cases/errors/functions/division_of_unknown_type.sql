-- Flink divides integers by integers; whether this is one, only Spark knows.
SELECT size(split(item, 'a')) / 2 FROM bid;
