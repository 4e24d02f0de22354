CALL advance_watermark(TIMESTAMP '2020-04-15 08:20:00');
call Advance_Watermark('bid', timestamp '2020-04-15 08:20:00.123');
CALL default_catalog.default_database.advance_watermark('BID', TIMESTAMP '1969-12-31 23:59:59.999');
