-- expect: prune_columns
SELECT COUNT(*) AS n FROM bid;
