SELECT item, COUNT(*) AS n FROM bid GROUP BY item, TumblingWindow(minute, 5);
