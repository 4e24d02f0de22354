SELECT b.item FROM bid AS b, LATERAL SNAPSHOT(TABLE bid) AS i WHERE b.item = i.item;
