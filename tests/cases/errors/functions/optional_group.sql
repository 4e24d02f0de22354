SELECT REGEXP_EXTRACT(item, 'a(b*)?', 1) FROM bid;
