"""Writing what was changed here into the files that Notes came from: that place alone, the rest byte for byte."""
