"""``gpu-verify offer``: what a rented instance really is, tried and not believed."""
