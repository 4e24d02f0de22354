SET 'execution.runtime-mode' = 'streaming';
SELECT item, price FROM bid EMIT ON UPDATE;
