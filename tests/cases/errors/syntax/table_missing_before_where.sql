SELECT item FROM WHERE price > 3;
