SELECT COUNT(*) AS n, MAX(price) AS most FROM bid;
