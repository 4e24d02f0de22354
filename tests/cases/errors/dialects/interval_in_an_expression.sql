SELECT bidtime + INTERVAL '5 minutes' AS t FROM bid;
