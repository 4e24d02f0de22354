SELECT item FROM bid WHERE price * bidtime > 10;
