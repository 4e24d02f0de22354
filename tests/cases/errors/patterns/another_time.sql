SET 'execution.runtime-mode' = 'streaming';
SELECT window_start, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE (SELECT * FROM bid MATCH_RECOGNIZE (ORDER BY bidtime MEASURES LAST(B.bidtime) AS ts PATTERN (A B) DEFINE A AS A.price > 1)), DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start, window_end;
