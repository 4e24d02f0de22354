-- expect: make_interval_join
-- other times are equal: the bound is that between the event times
SET 'execution.runtime-mode' = 'streaming';
SELECT b.item, a.reserve
FROM (SELECT *, FLOOR(bidtime TO HOUR) AS hour_of FROM bid) AS b
JOIN (SELECT *, FLOOR(opened TO HOUR) AS hour_of FROM auction) AS a
ON b.hour_of = a.hour_of AND b.bidtime BETWEEN a.opened AND a.opened + INTERVAL '5' MINUTE;
