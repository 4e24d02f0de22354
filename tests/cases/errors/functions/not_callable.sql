CREATE FUNCTION f AS 'user_functions.not_a_function' LANGUAGE PYTHON;
