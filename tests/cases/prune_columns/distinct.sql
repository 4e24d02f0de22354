-- Fewer columns would make fewer distinct rows.
-- expect: prune_columns
SELECT item FROM (SELECT DISTINCT item, bidder FROM bid);
