SELECT item FROM bid WHERE item IN ('a',, 'b');
