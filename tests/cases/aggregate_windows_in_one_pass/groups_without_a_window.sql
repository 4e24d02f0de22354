-- expect-not: aggregate_windows_in_one_pass
SET 'execution.runtime-mode' = 'streaming';
INSERT INTO screen
SELECT CONCAT('bids of ', item), COUNT(*) FROM bid GROUP BY item
UNION ALL
SELECT CONCAT('bidders of ', item), COUNT(bidder) FROM bid GROUP BY item;
