CREATE FUNCTION initials AS 'user_functions.initials' LANGUAGE PYTHON; DROP FUNCTION initial;
