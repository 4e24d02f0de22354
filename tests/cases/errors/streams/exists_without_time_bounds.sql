SET 'execution.runtime-mode' = 'streaming';
SELECT * FROM auction AS a WHERE EXISTS (SELECT * FROM bid AS b WHERE b.item = a.item);
