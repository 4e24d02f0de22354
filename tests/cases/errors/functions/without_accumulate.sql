CREATE FUNCTION f AS 'user_functions.WithoutAccumulate' LANGUAGE PYTHON;
