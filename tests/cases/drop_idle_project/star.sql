-- expect: drop_idle_project
SELECT * FROM bid;
