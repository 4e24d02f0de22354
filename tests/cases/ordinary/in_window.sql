-- A window function inside a subquery of an expression.
SELECT item, price FROM bid
WHERE item IN (
    SELECT item FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' DAY))
    GROUP BY window_start, window_end, item HAVING COUNT(*) > 100
);
