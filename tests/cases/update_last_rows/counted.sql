-- expect: update_last_rows retract_changes
SET 'execution.runtime-mode' = 'streaming';
SELECT bidder, COUNT(*) AS items
FROM (SELECT * FROM bid QUALIFY ROW_NUMBER() OVER (PARTITION BY item ORDER BY bidtime DESC) = 1) GROUP BY bidder;
