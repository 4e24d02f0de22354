SELECT b.item FROM bid AS b JOIN LATERAL SNAPSHOT(input => TABLE bid, load_completed_condition => 'on_compile_time') AS i ON b.item = i.item;
