"""Counts words."""


def count(text):
    """Return how many words a text has."""
    return len(text.split())
