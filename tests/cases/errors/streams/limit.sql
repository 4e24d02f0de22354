SET 'execution.runtime-mode' = 'streaming';
SELECT item FROM bid LIMIT 3;
