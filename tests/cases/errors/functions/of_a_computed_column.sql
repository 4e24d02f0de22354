CREATE FUNCTION f AS 'user_functions.initials' LANGUAGE PYTHON; CREATE TABLE t (item STRING, short AS f(item)) WITH ('connector' = 'filesystem', 'path' = 't', 'format' = 'json');
DROP FUNCTION f; CREATE FUNCTION f AS 'user_functions.plus_one' LANGUAGE PYTHON;
SELECT short, f(1) FROM t;
