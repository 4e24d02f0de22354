SET 'execution.runtime-mode' = 'streaming';
SELECT * FROM auction AS a
WHERE item NOT IN (SELECT b.item FROM bid AS b WHERE bidtime BETWEEN opened AND opened + INTERVAL '1' HOUR);
