CREATE FUNCTION f AS 'user_functions_broken.f' LANGUAGE PYTHON;
