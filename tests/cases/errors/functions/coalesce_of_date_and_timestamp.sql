SELECT COALESCE(CAST(bidtime AS DATE), bidtime) FROM bid;
