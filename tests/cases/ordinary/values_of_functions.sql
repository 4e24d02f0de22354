-- Spark evaluates only some functions in an inline table.
SELECT * FROM (VALUES (TO_TIMESTAMP_LTZ(1000, 3), UPPER('x')), (NULL, 'y')) AS t(at, name);
