-- same-plan-as: grouping_sets/pair
SELECT item, bidder, COUNT(*) AS n FROM bid GROUP BY GROUPING SETS ((item, bidder));
