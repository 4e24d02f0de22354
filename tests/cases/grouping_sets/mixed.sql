SELECT item, bidder, quantity, GROUPING_ID(item, bidder) AS g, COUNT(bidder) AS n
FROM bid
GROUP BY item, GROUPING SETS ((bidder), ()), CUBE (quantity);
