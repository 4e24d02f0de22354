SELECT item, bidder, COUNT(*) AS n FROM bid GROUP BY (item, bidder);
