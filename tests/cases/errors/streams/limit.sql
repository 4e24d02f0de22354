SET 'execution.runtime-mode' = 'streaming';
SELECT item FROM (SELECT item, price FROM bid LIMIT 3) WHERE price > 1;
