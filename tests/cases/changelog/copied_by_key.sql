-- A changelog by key into a table that replaces rows by key: the changes of a key come in order. `-U` goes where its `+U` always follows.
SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE latest (item STRING, price DECIMAL(10, 2), place STRING, PRIMARY KEY (item) NOT ENFORCED)
WITH ('connector' = 'upsert-kafka', 'topic' = 'latest', 'properties.bootstrap.servers' = 'localhost:9092', 'key.format' = 'json',
    'value.format' = 'json');
CREATE TABLE copied (item STRING, price DECIMAL(10, 2), PRIMARY KEY (item) NOT ENFORCED)
WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://localhost/shop', 'table-name' = 'copied');
CREATE TABLE dear (place STRING, item STRING, price DECIMAL(10, 2), PRIMARY KEY (place, item) NOT ENFORCED)
WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://localhost/shop', 'table-name' = 'dear');

INSERT INTO copied SELECT item, price * 2 FROM latest;
INSERT INTO dear SELECT UPPER(place), item, price FROM latest WHERE price > 5;
