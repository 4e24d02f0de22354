SELECT item, word FROM bid, LATERAL TABLE(split(item)) AS t (word);
