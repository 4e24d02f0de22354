-- The first was lost.
SELECT item FROM bid ORDER BY item ASC DESC;
