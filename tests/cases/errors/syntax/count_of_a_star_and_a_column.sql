-- The column was lost.
SELECT COUNT(*, item) AS n FROM bid;
