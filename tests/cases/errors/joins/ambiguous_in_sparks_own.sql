SELECT *, ROW_NUMBER() OVER (ORDER BY price) AS place
FROM (SELECT bid.item, auction.item, price FROM bid JOIN auction ON bid.item = auction.item);
