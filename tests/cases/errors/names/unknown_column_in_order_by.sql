SELECT item FROM bid ORDER BY prise;
