"""The card as one HTML file that loads nothing from a network and runs only its own scripts.

Content comes from render/sections; this package has the style and scripts (assets/) and the content security policy.
Templates and their library are loaded on first use.
"""
