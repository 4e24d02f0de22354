SELECT item FORM bid;
