"""The card as one HTML file that loads nothing from a network and runs only its own scripts.

Content comes from render/sections; here are its look (assets/), its interaction, and the policy that keeps text of a
model file text. Templates and their library are loaded on first use.
"""
