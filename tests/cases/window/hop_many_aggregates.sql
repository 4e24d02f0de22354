SELECT
    window_start, window_end, item,
    COUNT(*) AS n,
    COUNT(bidder) AS bidders,
    SUM(quantity) AS pieces,
    AVG(quantity) AS mean_pieces,
    AVG(price) AS mean_price,
    AVG(rating) AS mean_rating,
    MIN(price) AS least,
    MAX(price) AS most,
    STDDEV_POP(rating) AS spread,
    STDDEV_SAMP(rating) AS spread_samp,
    VAR_POP(rating) AS variance,
    VAR_SAMP(rating) AS variance_samp,
    FIRST_VALUE(price) AS opening,
    LAST_VALUE(price) AS closing,
    LISTAGG(item) AS names,
    LISTAGG(item, ' & ') AS names_and,
    COLLECT(quantity) AS quantities,
    ARRAY_AGG(quantity) AS quantities_and_nulls,
    BOOL_AND(rating > 3) AS all_good,
    BOOL_OR(rating > 3) AS some_good
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE, INTERVAL '1' HOUR))
GROUP BY window_start, window_end, item;
