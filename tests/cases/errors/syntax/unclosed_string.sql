SELECT item FROM bid WHERE item = 'abc AND price > 3;
