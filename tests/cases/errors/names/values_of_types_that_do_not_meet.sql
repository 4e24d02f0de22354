SELECT n + 1 AS m FROM (VALUES (1), ('a'), (NULL)) AS t (n);
