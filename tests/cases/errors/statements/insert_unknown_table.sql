INSERT INTO total SELECT item FROM bid;
