SET 'execution.runtime-mode' = 'streaming';
SELECT item FROM bid ORDER BY price;
