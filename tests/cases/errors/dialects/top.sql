SELECT TOP 5 item FROM bid;
