SELECT b.item, i.price FROM bid AS b JOIN LATERAL SNAPSHOT(input => TABLE bid) AS i ON b.item = i.item;
