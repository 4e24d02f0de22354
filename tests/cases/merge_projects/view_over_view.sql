-- expect: merge_projects
CREATE VIEW halves AS SELECT item, price / 2 AS half, bidtime FROM bid;
SELECT item, half + 1 AS more FROM halves;
