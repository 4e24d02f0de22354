-- INSERT cuts and pads values whatever this option says.
SET 'table.exec.sink.type-length-enforcer' = 'TRIM_PAD';
CREATE TABLE t (d VARCHAR(3)) WITH ('connector' = 'filesystem', 'path' = 't', 'format' = 'json');

INSERT INTO t VALUES ('abcdef');
