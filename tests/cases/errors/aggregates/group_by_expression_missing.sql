SELECT a.item, b.item, ABS(seller) AS s, COUNT(*) AS n
FROM bid AS a JOIN auction AS b ON a.item = b.item
GROUP BY a.item, ABS(b.seller);
