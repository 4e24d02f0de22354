-- A window function over a joined view.
CREATE VIEW sold AS
SELECT bid.item, seller, price, bidtime FROM bid JOIN auction ON bid.item = auction.item AND price >= reserve;
SELECT window_start, window_end, seller, SUM(price) AS total
FROM TABLE(CUMULATE(TABLE sold, DESCRIPTOR(bidtime), INTERVAL '1' HOUR, INTERVAL '1' DAY))
GROUP BY window_start, window_end, seller;
