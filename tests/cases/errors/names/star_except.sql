SELECT * EXCEPT (price) FROM bid;
