CREATE TABLE click (at TIMESTAMP(3), WATERMARK FOR at AS at)
WITH ('connector' = 'filesystem', 'path' = 'p', 'format' = 'json', 'scan.watermark.idle-timeout' = 'soon');
