-- Both columns are the same random number.
-- expect-not: merge_projects
SELECT r AS a, r AS b FROM (SELECT rand() AS r FROM bid);
