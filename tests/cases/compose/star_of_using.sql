-- The columns of USING come first in * alone, each once.
SELECT * FROM auction AS a JOIN totals AS t USING (item) JOIN bid AS b USING (item);
SELECT a.*, t.item FROM auction AS a LEFT JOIN totals AS t USING (item);
