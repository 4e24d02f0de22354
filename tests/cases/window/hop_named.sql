-- same-plan-as: window/hop
SELECT window_start, window_end, item, SUM(price) AS total
FROM TABLE(
    HOP(
        DATA => TABLE bid,
        SIZE => INTERVAL '10' MINUTE,      -- in another order
        SLIDE => INTERVAL '5' MINUTE,
        TIMECOL => DESCRIPTOR(bidtime)
    )
)
GROUP BY window_start, window_end, item;
