SET 'execution.runtime-mode' = 'streaming';
SELECT bidtime, item, price, bidder FROM TABLE(
    GAP_FILL(TABLE bid PARTITION BY item, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE, INTERVAL '30' SECOND,
        INTERPOLATE(price), KEEPNULL(bidder), MAX_GAP => INTERVAL '1' HOUR)
) WHERE item <> 'vase' AND price > 10;
