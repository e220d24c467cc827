"""Recordings into typed facts: one module a subject, pure parsers. What is not known is None, never 0."""
