ALTER TABLE bid ADD WATERMARK FOR bidtime AS bidtime;
