CREATE FUNCTION weighted AS 'org.example.Weighted' USING JAR 'functions.jar';
