-- expect: make_interval_join
SET 'execution.runtime-mode' = 'streaming';
SELECT window_start, COUNT(*) AS n FROM TABLE(TUMBLE((
  SELECT * FROM auction AS a WHERE item IN (SELECT b.item FROM bid AS b WHERE bidtime BETWEEN opened AND opened + INTERVAL '1' HOUR)
), DESCRIPTOR(opened), INTERVAL '1' HOUR)) GROUP BY window_start, window_end;
