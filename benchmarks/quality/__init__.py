"""Ablations of ``TVClustering(preset="quality")``, on real and on simulated graphs, and the tables of docs/quality.md."""
