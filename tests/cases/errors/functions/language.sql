CREATE FUNCTION f AS 'com.example.F';
