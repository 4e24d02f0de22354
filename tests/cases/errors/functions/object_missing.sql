CREATE FUNCTION f AS 'user_functions.WeightedAverage' LANGUAGE PYTHON;
