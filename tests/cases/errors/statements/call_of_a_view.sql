CREATE VIEW dear AS SELECT * FROM bid WHERE price > 100;
CALL advance_watermark('dear', TIMESTAMP '2020-04-15 08:20:00');
