SET 'execution.runtime-mode' = 'streaming';
SELECT item, CURRENT_WATERMARK(bidtime + INTERVAL '1' SECOND) FROM bid;
