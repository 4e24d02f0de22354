-- sqlglot skips it.
SELECT LISTAGG(item, ',' ON OVERFLOW TRUNCATE) AS items FROM bid;
