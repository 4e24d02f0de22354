CREATE FUNCTION middle AS 'user_functions.Median' LANGUAGE PYTHON; SELECT item FROM bid WHERE middle(rating) > 1;
