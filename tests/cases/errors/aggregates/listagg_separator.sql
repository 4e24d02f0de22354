SELECT LISTAGG(item, bidder) AS items FROM bid;
