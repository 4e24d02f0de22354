CREATE FUNCTION upper AS 'user_functions.initials' LANGUAGE PYTHON;
