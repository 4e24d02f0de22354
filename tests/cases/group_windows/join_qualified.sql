-- both sides have a time column of that name
SELECT a.item, TUMBLE_END(b.bidtime, INTERVAL '10' MINUTE) AS ended, COUNT(*) AS n
FROM bid AS a JOIN bid AS b ON a.item = b.item AND b.bidtime BETWEEN a.bidtime AND a.bidtime + INTERVAL '3' MINUTE
GROUP BY a.item, TUMBLE(b.bidtime, INTERVAL '10' MINUTE);
