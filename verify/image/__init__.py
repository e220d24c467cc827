"""What an image demands of a host, read without pulling it."""
