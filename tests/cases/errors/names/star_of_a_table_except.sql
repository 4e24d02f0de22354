SELECT b.* EXCEPT (price) FROM bid AS b;
