SELECT item, price, quantity, rating, bidtime, item AS item_2, price AS price_2, quantity AS quantity_2, rating AS rating_2, prcie AS price_3, bidtime AS bidtime_2 FROM bid;
