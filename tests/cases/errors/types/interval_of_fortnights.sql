SELECT bidtime - INTERVAL '1' FORTNIGHT AS earlier FROM bid;
