"""The recipe of ``TVClustering(preset="quality")``, each part on its own.

In order: `preparation` scales the features, `directions` finds the encoders, `candidates` smooths and clusters,
`information` judges partitions without labels, `selection` keeps the best separated, `discriminant` sets the head,
`refinement` trains it, `recipe` calls them.
"""
