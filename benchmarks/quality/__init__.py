"""Ablations of ``TVClustering(preset="quality")`` on real and simulated graphs, for docs/quality.md."""
