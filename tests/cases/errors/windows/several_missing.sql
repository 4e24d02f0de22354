SELECT window_name, COUNT(*) AS n
FROM bid
GROUP BY window_name;
