CALL advance_watermark;
