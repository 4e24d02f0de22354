-- Letters that take two places on a screen.
SELECT '日本語の文字' AS 日本, prcie AS p FROM bid;
