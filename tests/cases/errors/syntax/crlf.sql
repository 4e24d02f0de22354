SELECT item,
       prcie
FROM bid;
