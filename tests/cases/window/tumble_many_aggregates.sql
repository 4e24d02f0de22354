SELECT
    window_start, window_end, item,
    COUNT(*) AS n,
    COUNT(bidder) AS bidders,
    SUM(quantity) AS pieces,
    AVG(quantity) AS mean_pieces,
    AVG(price) AS mean_price,
    AVG(rating) AS mean_rating,
    MIN(price) AS least,
    STDDEV_POP(rating) AS spread,
    VAR_SAMP(rating) AS variance_samp,
    FIRST_VALUE(price) AS opening,
    LAST_VALUE(price) FILTER (WHERE bidder > 3) AS closing,
    LISTAGG(item, ' & ') AS names_and,
    COLLECT(quantity) AS quantities,
    ARRAY_AGG(quantity) AS quantities_and_nulls,
    BOOL_OR(rating > 3) AS some_good,
    APPROX_COUNT_DISTINCT(bidder) AS about,
    COUNT(DISTINCT bidder) AS exactly
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, item;
