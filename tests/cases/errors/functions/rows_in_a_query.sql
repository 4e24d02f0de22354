SELECT (item, price) IN (SELECT item, price FROM bid) AS x FROM bid;
