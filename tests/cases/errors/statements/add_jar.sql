ADD JAR 'functions.jar';
