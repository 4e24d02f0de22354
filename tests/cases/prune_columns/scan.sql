-- expect: prune_columns
SELECT item, price + 1 AS more FROM bid;
