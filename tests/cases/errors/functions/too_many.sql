CREATE FUNCTION initials AS 'user_functions.initials' LANGUAGE PYTHON; SELECT initials(item, '', 1) FROM bid;
