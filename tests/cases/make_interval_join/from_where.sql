-- expect: make_interval_join
SET 'execution.runtime-mode' = 'streaming';
SELECT b.item, a.id FROM bid b, auction a
WHERE b.item = a.item AND b.bidtime = a.opened AND b.price > 1;
