SELECT window_start, window_end, COUNT(*) AS n FROM bid GROUP BY window_start, window_end;
