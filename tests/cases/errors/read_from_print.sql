SELECT * FROM screen;
