-- An equality of times is a bound, not a key.
-- expect: make_interval_join
SET 'execution.runtime-mode' = 'streaming';
SELECT a.id, b.price FROM auction AS a LEFT JOIN bid AS b ON a.item = b.item AND b.bidtime = a.opened + INTERVAL '10' MINUTE;
