SET 'execution.runtime-mode' = 'streaming';
SET 'tvfsql.late' = 'adjust';
SELECT item, bidtime FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY item ORDER BY bidtime) AS place FROM bid
) WHERE place = 1;
