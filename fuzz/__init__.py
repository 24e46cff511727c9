"""Hostile files, mutants of real ones, and what runs them: nothing that a file contains may crash, hang or lie."""
