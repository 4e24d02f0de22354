-- expect: merge_projects
SELECT p AS a, p AS b FROM (SELECT price AS p FROM bid);
