"""Comparisons of models: sections, the terminal table and the page side by side."""
