CREATE FUNCTION f AS 'user_functions.without_type' LANGUAGE PYTHON;
