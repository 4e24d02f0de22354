SELECT something FROM bid;
