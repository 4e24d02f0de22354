SELECT item FROM ((bid)) AS b WHERE b.price > 3;
