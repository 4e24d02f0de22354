SET 'execution.runtime-mode' = 'streaming';
SELECT item, RANK() OVER (PARTITION BY item ORDER BY CURRENT_WATERMARK(bidtime)) FROM bid;
