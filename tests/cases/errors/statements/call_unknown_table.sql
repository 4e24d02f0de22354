CALL advance_watermark('bids', TIMESTAMP '2020-04-15 08:20:00');
