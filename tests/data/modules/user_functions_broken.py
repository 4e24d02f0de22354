raise RuntimeError("it does not\n   load")
