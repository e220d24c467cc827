"""Record a machine once, judge it afterwards, show the evidence."""

__version__ = "0.1.0"
