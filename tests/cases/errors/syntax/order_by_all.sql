-- Spark has no column ALL.
SELECT item FROM bid ORDER BY ALL;
