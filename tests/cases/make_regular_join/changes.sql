-- The counts change, and with them the rows of the join. The hint keeps each side for its own time.
-- expect: make_regular_join retract_changes
SET 'execution.runtime-mode' = 'streaming';
SELECT /*+ STATE_TTL('a' = '7 d', 'b' = '12 h') */ a.id, b.n
FROM auction AS a JOIN (SELECT item, COUNT(*) AS n FROM bid GROUP BY item) AS b ON a.item = b.item;
