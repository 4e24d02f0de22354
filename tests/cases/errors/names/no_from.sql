SELECT item;
