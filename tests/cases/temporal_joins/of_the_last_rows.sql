SET 'execution.runtime-mode' = 'streaming';
-- Every row of the view's input is a version; ROW_NUMBER leaves no trace in the plan.
CREATE VIEW latest AS SELECT name AS item, city, joined FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY name ORDER BY joined DESC) AS place FROM person WHERE city <> ''
) WHERE place = 1;
CREATE TABLE visits (item STRING, n INT, at TIMESTAMP_LTZ(3), WATERMARK FOR at AS at - INTERVAL '5' SECOND)
  WITH ('connector' = 'filesystem', 'path' = 'visits', 'format' = 'json');
SELECT v.item, city, n FROM visits AS v JOIN latest FOR SYSTEM_TIME AS OF v.at AS p ON p.item = v.item AND n > 1;
