SET 'execution.runtime-mode' = 'streaming';
SET 'table.exec.source.rowtime-null-handling' = 'SKIP_WATERMARK';
SELECT item, CURRENT_WATERMARK(bidtime) FROM bid;
