-- The watermark before the row's micro-batch: beside each row, and to leave late rows out before a window.
SET 'execution.runtime-mode' = 'streaming';
SELECT bidtime, item, CURRENT_WATERMARK(bidtime) AS watermark,
    CURRENT_WATERMARK(b.bidtime) IS NULL OR bidtime > CURRENT_WATERMARK(bidtime) AS in_time
FROM bid AS b WHERE price > 1;
SELECT window_start, item, COUNT(*) AS bids, MAX(CURRENT_WATERMARK(bidtime)) AS newest
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
WHERE CURRENT_WATERMARK(bidtime) IS NULL OR bidtime > CURRENT_WATERMARK(bidtime)
GROUP BY window_start, window_end, item;
SELECT id, name FROM (SELECT *, CURRENT_WATERMARK(joined) AS watermark FROM person) WHERE joined <= watermark;
