WITH c (a, b) AS (SELECT item FROM bid) SELECT a FROM c;
