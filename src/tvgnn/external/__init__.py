"""tvgnn inside other tools' data structures; each module needs the tool and is imported by its name."""
