CREATE FUNCTION f AS 'user_functions.initials' LANGUAGE PYTHON; CREATE FUNCTION F AS 'user_functions.initials' LANGUAGE PYTHON;
