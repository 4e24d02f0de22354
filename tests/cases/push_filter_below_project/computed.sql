-- expect: push_filter_below_project
SELECT item FROM (SELECT item, price * quantity AS total FROM bid) WHERE total > 100 OR total IS NULL;
