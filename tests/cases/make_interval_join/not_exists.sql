-- expect: make_interval_join
SET 'execution.runtime-mode' = 'streaming';
SELECT opened, item, seller FROM auction AS a
WHERE NOT EXISTS (
  SELECT * FROM bid AS b
  WHERE b.item = a.item AND a.seller > 7 AND b.price > 10 AND bidtime BETWEEN opened AND opened + INTERVAL '1' HOUR
);
