SELECT bd.item FROM bid AS b;
