"""Tests of what holds for the command line as a whole, whatever files it is given."""
