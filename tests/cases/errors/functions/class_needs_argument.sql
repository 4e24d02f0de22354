CREATE FUNCTION f AS 'user_functions.NeedsArgument' LANGUAGE PYTHON;
