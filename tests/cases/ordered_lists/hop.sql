-- An element of a list has the keys that order it; different values are kept once.
-- expect: split_local_global
SELECT window_start, window_end, item, LISTAGG(bidder, ' ') WITHIN GROUP (ORDER BY price DESC, quantity NULLS LAST) AS bidders,
    ARRAY_AGG(price ORDER BY rating) FILTER (WHERE quantity > 1) AS prices,
    LISTAGG(DISTINCT item) WITHIN GROUP (ORDER BY item DESC) AS items
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, item;
