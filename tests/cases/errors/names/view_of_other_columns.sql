CREATE VIEW everything AS SELECT * FROM person;
ALTER TABLE person MODIFY city INT;
SELECT name FROM everything;
