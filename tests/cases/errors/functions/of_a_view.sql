CREATE FUNCTION f AS 'user_functions.initials' LANGUAGE PYTHON; CREATE VIEW v AS SELECT f(item) AS short FROM bid;
DROP FUNCTION f; CREATE FUNCTION f AS 'user_functions.plus_one' LANGUAGE PYTHON;
SELECT short, f(1) FROM v;
