SELECT SESSION_START(bidtime, INTERVAL '10' MINUTE) AS starts, SESSION_END(bidtime, INTERVAL '10' MINUTE) AS ends,
    b.item, bidder, COUNT(*) AS n
FROM bid AS b
WHERE b.price > 10 AND (item <> 'x')
GROUP BY SESSION(bidtime, INTERVAL '10' MINUTE), b.item, bidder
HAVING SESSION_ROWTIME(bidtime, INTERVAL '10' MINUTE) IS NOT NULL;
