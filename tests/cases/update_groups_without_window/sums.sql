-- expect: update_groups_without_window
SET 'execution.runtime-mode' = 'streaming';
SET 'table.exec.state.ttl' = '1 h';
SELECT item, COUNT(*) AS n, SUM(price) AS total, COUNT(DISTINCT bidder) FILTER (WHERE quantity > 1) AS bidders
FROM bid
GROUP BY item
HAVING COUNT(*) > 1;
