SET 'execution.runtime-mode' = 'streaming';
SELECT item, price FROM bid WHERE price > 5 ORDER BY bidtime, price DESC;
