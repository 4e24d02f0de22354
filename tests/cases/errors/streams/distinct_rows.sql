SET 'execution.runtime-mode' = 'streaming';
SELECT DISTINCT item, price FROM bid;
