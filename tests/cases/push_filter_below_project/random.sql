-- expect-not: push_filter_below_project
SELECT item FROM (SELECT item, rand() AS r FROM bid) WHERE r > 0.5;
