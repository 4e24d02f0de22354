-- The other end is handed on through the projection.
-- expect: complete_window_keys
SELECT until, item, COUNT(*) AS n
FROM (
    SELECT window_end AS until, UPPER(item) AS item
    FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
)
GROUP BY until, item;
