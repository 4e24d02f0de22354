-- The joined rows have no time attribute, as in Flink.
SET 'execution.runtime-mode' = 'streaming';
SET 'table.exec.state.ttl' = '1 d';
CREATE VIEW both_sides AS SELECT a.id, b.price, b.bidtime FROM auction AS a JOIN bid AS b ON a.item = b.item;
SELECT window_end, SUM(price) FROM TABLE(TUMBLE(TABLE both_sides, DESCRIPTOR(bidtime), INTERVAL '1' HOUR)) GROUP BY window_start, window_end;
