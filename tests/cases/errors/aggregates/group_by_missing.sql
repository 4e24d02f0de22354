SELECT item, COUNT(*) AS n FROM bid;
