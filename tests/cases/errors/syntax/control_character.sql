SELECT 'item' AS x FROM bid;
