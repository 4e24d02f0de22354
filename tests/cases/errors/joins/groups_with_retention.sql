-- The counts change.
SET 'execution.runtime-mode' = 'streaming';
SET 'table.exec.state.ttl' = '1 d';
SELECT a.id, b.n FROM auction AS a JOIN (SELECT item, COUNT(*) AS n FROM bid GROUP BY item) AS b ON a.item = b.item;
