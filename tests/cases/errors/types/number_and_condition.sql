SELECT item FROM bid WHERE item = 'a' AND (price);
