-- Without an event time equal keys are in the order of the values.
SELECT item, LISTAGG(bidder) WITHIN GROUP (ORDER BY price DESC) AS bidders, COUNT(DISTINCT bidder, price) AS pairs
FROM (SELECT item, bidder, price FROM bid) GROUP BY item;
