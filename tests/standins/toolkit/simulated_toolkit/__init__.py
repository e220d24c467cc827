"""The stand-in for NVIDIA's Container Toolkit (simulated): what its programs share, standard library only."""
