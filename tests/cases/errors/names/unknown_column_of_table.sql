SELECT b.itemm, a.id FROM bid AS b JOIN auction AS a ON a.item = b.item;
