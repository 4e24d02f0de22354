CREATE FUNCTION f AS 'user_functions.of_no_sql_type' LANGUAGE PYTHON;
