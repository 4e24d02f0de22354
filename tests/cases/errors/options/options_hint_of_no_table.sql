SELECT /*+ OPTIONS('format' = 'csv') */ item FROM bid;
