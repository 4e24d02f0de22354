SELECT window_start, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR($rowtime), INTERVAL '1' HOUR)) GROUP BY window_start, window_end;
