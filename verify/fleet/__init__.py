"""All hosts at a glance: the page, what differs between them, the lock file, figures for Prometheus. Pure."""
