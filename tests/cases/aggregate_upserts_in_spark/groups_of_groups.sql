-- expect-not: aggregate_upserts_in_spark
SET 'execution.runtime-mode' = 'streaming';
INSERT INTO nowhere SELECT item, COUNT(*) FROM (SELECT item, bidder, COUNT(*) AS n FROM bid GROUP BY item, bidder) GROUP BY item;
