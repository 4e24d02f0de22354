-- The text of the view is another one: the caret is on its name.
SET 'execution.runtime-mode' = 'streaming';
CREATE VIEW sorted AS
SELECT item, price FROM bid WHERE price > 3 ORDER BY price;
SELECT item FROM sorted WHERE item <> 'pen';
