-- expect: push_filter_below_set_operation
SELECT item FROM (SELECT item FROM bid EXCEPT SELECT item FROM auction) WHERE item > 'a';
