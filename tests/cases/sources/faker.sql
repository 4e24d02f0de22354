CREATE TABLE logs (
    ip STRING, request STRING, size INT, sent TIMESTAMP(3), at AS PROCTIME(),
    WATERMARK FOR sent AS sent - INTERVAL '15' SECOND
) WITH (
    'connector' = 'faker', 'number-of-rows' = '1000', 'rows-per-second' = '100',
    'fields.ip.expression' = '#{Internet.publicIpV4Address}', 'fields.ip.null-rate' = '0.1',
    'fields.request.expression' = '#{regexify ''(GET|POST){1}''} /#{harry_potter.spell}',
    'fields.size.expression' = '#{number.numberBetween ''1'',''100''}',
    'fields.sent.expression' = '#{date.past ''15'',''5'',''SECONDS''}'
);
SELECT window_start, COUNT(ip) AS n, SUM(size) AS total
FROM TABLE(TUMBLE(TABLE logs, DESCRIPTOR(sent), INTERVAL '1' SECOND)) GROUP BY window_start, window_end;
