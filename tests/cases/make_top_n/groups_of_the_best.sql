-- expect: make_top_n retract_changes update_groups_without_window
SET 'execution.runtime-mode' = 'streaming';
SELECT bidder, COUNT(*) AS n
FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY item ORDER BY price DESC) AS place FROM bid) WHERE place <= 3 GROUP BY bidder;
