SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE clicks (url STRING, user_id BIGINT) WITH ('connector' = 'filesystem', 'path' = 'clicks', 'format' = 'json');
CREATE TABLE users (id BIGINT, name STRING) WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql:db', 'table-name' = 'users');
CREATE VIEW named AS SELECT id, name FROM users WHERE name IS NOT NULL;
SELECT c.url, u.name FROM clicks AS c LEFT JOIN LATERAL SNAPSHOT(input => TABLE named) AS u ON c.user_id = u.id AND u.name <> c.url;
