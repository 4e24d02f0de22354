CREATE FUNCTION `my f` AS 'user_functions.initials' LANGUAGE PYTHON;
