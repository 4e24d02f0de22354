SELECT item -- /*+ OPTIONS('a' = 'b') */ in a comment is one
FROM bid /*+ OPTIONS('scan.watermark.emit.strategy' = 'on-event') */;
