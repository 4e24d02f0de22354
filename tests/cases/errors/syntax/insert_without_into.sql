INSERT bid SELECT item FROM bid;
