-- The caret counts from the line's start, behind tabs.
SELECT
	item,
		prcie	AS p
FROM bid;
