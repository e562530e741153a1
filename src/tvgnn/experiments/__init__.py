"""Experiments of the paper: what is run, on which splits, and how an interrupted one goes on."""
