CREATE FUNCTION middle AS 'user_functions.Median' LANGUAGE PYTHON; SELECT middle(*) FROM bid;
