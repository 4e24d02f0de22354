SELECT COUNT(*) FROM TABLE(TUMBLE()) GROUP BY window_start, window_end;
