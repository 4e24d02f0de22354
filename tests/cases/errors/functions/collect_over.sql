SELECT COLLECT(item) OVER (ORDER BY bidtime) AS items FROM bid;
