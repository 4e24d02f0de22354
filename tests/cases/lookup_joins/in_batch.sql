CREATE TABLE clicks (url STRING, proc AS PROCTIME())
  WITH ('connector' = 'filesystem', 'path' = 'clicks', 'format' = 'json');
CREATE TABLE pages (url STRING, title STRING);
CREATE VIEW titled AS SELECT url, UPPER(title) AS title FROM pages WHERE title <> '';
SELECT c.url, title FROM clicks AS c JOIN titled FOR SYSTEM_TIME AS OF c.proc AS p ON c.url = p.url;
