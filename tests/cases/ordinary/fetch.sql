-- The standard's words for LIMIT.
SELECT item, price FROM bid ORDER BY price DESC OFFSET 2 ROWS FETCH NEXT 3 ROWS ONLY;
SELECT item FROM (SELECT item FROM bid FETCH FIRST ROW ONLY) AS one;
