CREATE TABLE totals_of_day (item STRING, total BIGINT);
CREATE VIEW large AS SELECT item FROM totals_of_day WHERE total > 100;
CREATE OR REPLACE TABLE totals_of_day AS SELECT item FROM large;
