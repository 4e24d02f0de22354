SELECT item, GROUPING(bidder) AS g FROM bid GROUP BY ROLLUP (item);
