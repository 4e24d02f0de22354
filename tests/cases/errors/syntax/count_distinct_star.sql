-- It counted the columns that the rest of the query reads.
SELECT COUNT(DISTINCT *) AS n FROM bid;
