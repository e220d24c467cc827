"""The judging suite: run by pytest on the controller over an evidence folder."""
