-- sqlglot does without AND.
SELECT item FROM bid WHERE price BETWEEN 1 2;
