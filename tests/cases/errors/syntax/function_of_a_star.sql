-- It was SELECT *.
SELECT GREATEST(*) AS v FROM bid;
