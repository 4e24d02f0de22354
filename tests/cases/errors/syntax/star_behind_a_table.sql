-- sqlglot skips the star.
SELECT item FROM bid* WHERE price > 1;
