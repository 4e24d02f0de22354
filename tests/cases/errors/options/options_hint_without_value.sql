SELECT item FROM bid /*+ OPTIONS('format') */;
