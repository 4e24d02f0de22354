SET 'execution.runtime-mode' = 'streaming';
SET 'table.exec.state.ttl' = '1 h';
SELECT item, t FROM (SELECT item, bidtime AS t FROM bid UNION ALL SELECT item, opened FROM auction)
QUALIFY ROW_NUMBER() OVER (PARTITION BY item ORDER BY t DESC) = 1;
