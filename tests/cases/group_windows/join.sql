SELECT HOP_END(b.bidtime, INTERVAL '1' MINUTE, INTERVAL '10' MINUTE) AS ends, a.seller, SUM(b.price) AS total
FROM bid AS b JOIN auction AS a ON a.item = b.item
GROUP BY HOP(b.bidtime, INTERVAL '1' MINUTE, INTERVAL '10' MINUTE), a.seller;
