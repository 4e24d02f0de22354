SELECT a.item FROM bid /*+ OPTIONS('format' = 'csv') */ AS a JOIN bid AS b ON a.item = b.item;
