"""Tables and figures of results that were computed elsewhere."""
