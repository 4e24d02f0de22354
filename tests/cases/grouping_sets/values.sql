SELECT item, bidder, quantity, GROUPING(item) AS i, GROUPING_ID(item, bidder, quantity) AS ibq,
       GROUPING_ID(bidder, quantity) AS bq, GROUPING_ID(quantity, item) * 2 AS qi, GROUP_ID() AS copy, SUM(price) AS total
FROM bid
GROUP BY GROUPING SETS ((item, bidder), ROLLUP (bidder, quantity), item, (item), ())
ORDER BY GROUPING(item), item;
