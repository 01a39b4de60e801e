"""Differences that have an explanation; see README.md for when an entry may be added."""

ENTRIES = []
