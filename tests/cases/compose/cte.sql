WITH dear AS (SELECT * FROM bid WHERE price > 100),
     counted(s, e, who, n) AS (
         SELECT window_start, window_end, bidder, COUNT(*)
         FROM TABLE(HOP(TABLE dear, DESCRIPTOR(bidtime), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
         GROUP BY window_start, window_end, bidder
     )
SELECT s, who, n FROM counted WHERE n > 1 ORDER BY n DESC, who;
