-- An outer join, too: UPPER(item) is a column of each side.
-- expect: make_interval_join
SET 'execution.runtime-mode' = 'streaming';
SELECT a.id, b.price FROM auction AS a LEFT JOIN bid AS b
ON UPPER(a.item) = UPPER(b.item) AND b.bidtime BETWEEN a.opened AND a.opened + INTERVAL '10' MINUTE;
