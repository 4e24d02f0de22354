CREATE FUNCTION sum0 AS 'user_functions.Median' LANGUAGE PYTHON;
