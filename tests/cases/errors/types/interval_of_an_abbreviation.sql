SELECT bidtime - INTERVAL '1' M AS earlier FROM bid;
