ALTER TABLE bid SET ('format' = 'jsn');
