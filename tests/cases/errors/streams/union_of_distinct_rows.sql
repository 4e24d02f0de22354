SET 'execution.runtime-mode' = 'streaming';
SELECT item FROM bid UNION SELECT item FROM auction;
