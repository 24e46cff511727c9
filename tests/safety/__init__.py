"""Properties of the whole command line that hold for every input file."""
