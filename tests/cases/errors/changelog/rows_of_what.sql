SELECT * FROM TO_CHANGELOG(input => TABLE bid, op_mapping => MAP['INSERTED', 'i']);
