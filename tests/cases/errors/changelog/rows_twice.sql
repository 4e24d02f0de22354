SELECT * FROM TO_CHANGELOG(input => TABLE bid, op_mapping => MAP['INSERT, DELETE', 'i', 'INSERT', 'j']);
