SELECT item FROM bid HAVING price > 3;
