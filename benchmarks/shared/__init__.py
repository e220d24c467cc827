"""What the benchmarks on simulated hosts share."""
