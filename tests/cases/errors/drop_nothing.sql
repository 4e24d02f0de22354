DROP bid;
