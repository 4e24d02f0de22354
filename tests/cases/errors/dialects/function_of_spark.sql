CREATE FUNCTION mask AS 'module.f' LANGUAGE PYTHON; SELECT mask(item) FROM bid;
