"""Findings and race to what a person or a CI system reads. No clock: the same input, the same bytes."""
