SELECT session_window(bidtime, '5 minutes') AS w FROM bid;
