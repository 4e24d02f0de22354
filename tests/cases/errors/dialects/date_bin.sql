SELECT item, date_bin(INTERVAL '5' MINUTE, bidtime) AS t FROM bid;
