"""Files from outside to a graph, and run folders out."""
