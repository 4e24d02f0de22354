-- sqlglot reads > > as a shift.
SELECT item
FROM bid
WHERE quantity > > 3;
