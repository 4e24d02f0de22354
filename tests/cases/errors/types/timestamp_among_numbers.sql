SELECT item FROM bid WHERE bidtime IN (1, 2);
