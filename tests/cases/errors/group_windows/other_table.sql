SELECT TUMBLE_END(b.bidtime, INTERVAL '1' MINUTE) AS ended, COUNT(*) AS n
FROM bid AS a JOIN bid AS b ON a.item = b.item GROUP BY TUMBLE(a.bidtime, INTERVAL '1' MINUTE);
