CREATE FUNCTION f AS 'user_functions.of_unknown_type' LANGUAGE PYTHON;
