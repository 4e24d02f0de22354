SELECT d.item FROM bid AS o JOIN LATERAL SNAPSHOT(TABLE bid) AS d ON o.price < d.price;
