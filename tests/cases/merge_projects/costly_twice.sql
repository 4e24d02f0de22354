-- The expression would be worked out twice.
-- expect-not: merge_projects
SELECT half + half AS whole FROM (SELECT price / 2 AS half FROM bid);
