CREATE FUNCTION f AS 'user_functions.by_name' LANGUAGE PYTHON;
