SELEC item FROM bid;
