CREATE FUNCTION f AS 'user_functions.TakesNothing' LANGUAGE PYTHON;
