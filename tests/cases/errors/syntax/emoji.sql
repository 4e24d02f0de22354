SELECT '🎉🎉' AS party, prcie FROM bid;
