"""The graph type, its adapters and the adjacency that layers and losses share."""
