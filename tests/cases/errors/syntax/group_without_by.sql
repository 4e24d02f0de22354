SELECT item FROM bid GROUP item;
