CREATE TABLE captured (id INT, code STRING, item STRING) WITH ('connector' = 'filesystem', 'path' = 'captured', 'format' = 'json');
SELECT * FROM FROM_CHANGELOG(input => (SELECT * FROM captured) PARTITION BY id, op => DESCRIPTOR(code), op_mapping => MAP['c', 'INSERT', 'u', 'UPDATE_AFTER']);
