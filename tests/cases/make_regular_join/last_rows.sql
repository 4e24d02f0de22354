-- The last bid of each item, beside its auctions: each new bid replaces a row of the join.
-- expect: make_regular_join update_last_rows retract_changes
SET 'execution.runtime-mode' = 'streaming';
SET 'table.exec.state.ttl' = '1 d';
SELECT a.id, b.price FROM auction AS a FULL JOIN (
  SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY item ORDER BY bidtime DESC) AS place FROM bid) WHERE place = 1
) AS b ON a.item = b.item;
