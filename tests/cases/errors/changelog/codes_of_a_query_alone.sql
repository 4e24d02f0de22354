SET 'execution.runtime-mode' = 'streaming';
SELECT * FROM FROM_CHANGELOG((SELECT item, 'INSERT' AS op FROM bid));
