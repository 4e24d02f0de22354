-- Auctions without a bid so far, counted by seller.
-- expect: make_regular_join retract_changes
SET 'execution.runtime-mode' = 'streaming';
SET 'table.exec.state.ttl' = '1 d';
SELECT seller, COUNT(*) AS n FROM auction AS a WHERE NOT EXISTS (SELECT * FROM bid AS b WHERE b.item = a.item AND b.price > 10)
GROUP BY seller;
