SET 'execution.runtime-mode' = 'streaming';
SELECT item, CURRENT_WATERMARK(price) FROM bid;
