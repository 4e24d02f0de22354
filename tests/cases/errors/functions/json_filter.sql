SELECT JSON_VALUE(item, '$.a[?(@.b > 1)]') FROM bid;
