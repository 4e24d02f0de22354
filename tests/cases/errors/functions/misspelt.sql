CREATE FUNCTION weightedAvg AS 'user_functions.WeightedAvg' LANGUAGE PYTHON; SELECT wieghtedAvg(price, quantity) FROM bid;
