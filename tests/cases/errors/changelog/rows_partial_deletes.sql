SELECT * FROM TO_CHANGELOG(input => TABLE bid, produces_full_deletes => FALSE);
