SET 'execution.runtime-mode' = 'streaming';
SELECT window_start, COUNT(*) AS n, MAX(fall) AS deepest
FROM TABLE(TUMBLE(TABLE (
    SELECT * FROM bid MATCH_RECOGNIZE (
        PARTITION BY item
        ORDER BY bidtime, price DESC
        MEASURES MATCH_ROWTIME() AS ts, FIRST(A.price) - LAST(B.price) AS fall, SUM(B.quantity) AS s
        ONE ROW PER MATCH
        AFTER MATCH SKIP TO LAST B
        PATTERN (A B{2,} C) WITHIN INTERVAL '10' MINUTE
        DEFINE
            B AS B.price < LAST(price, 1) AND COUNT(B.price) < 9,
            C AS C.price > A.price * 2 OR C.bidder IS NULL
    )
), DESCRIPTOR(ts), INTERVAL '1' HOUR))
GROUP BY window_start, window_end;
