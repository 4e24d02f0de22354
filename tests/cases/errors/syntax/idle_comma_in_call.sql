SELECT COALESCE(item, ) AS item FROM bid;
