FROM bid WHERE price > 3;
