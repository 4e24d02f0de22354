INSERT INTO totals SELECT window_start, item FROM totals;
