CREATE FUNCTION w AS 'user_functions.WeightedAvg' LANGUAGE PYTHON; SELECT w(price) FROM bid;
