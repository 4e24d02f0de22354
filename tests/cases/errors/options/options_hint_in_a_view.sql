CREATE VIEW v AS SELECT item FROM bid /*+ OPTIONS('format' = 'csv') */;
