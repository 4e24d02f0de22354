SELECT item, word FROM bid, LATERAL TABLE(words(item)) AS t (word);
