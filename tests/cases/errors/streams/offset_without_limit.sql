SET 'execution.runtime-mode' = 'streaming';
SELECT item FROM bid OFFSET 3;
