SELECT * FROM bid WHERE bidtime >= DATE '2020-13-01';
