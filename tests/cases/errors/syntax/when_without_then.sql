-- sqlglot does without THEN.
SELECT CASE WHEN price = 1 2 END AS v FROM bid;
