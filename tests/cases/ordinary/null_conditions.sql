-- A NULL without a type is a condition that does not hold, as in Flink.
SELECT name, CASE WHEN NULL THEN 1 WHEN (NULL) THEN 2 ELSE 3 END AS n, IF(NULL, 1, 2) AS m FROM person;
SELECT name FROM person WHERE NULL;
