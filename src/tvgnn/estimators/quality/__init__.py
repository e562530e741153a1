"""The recipe of ``TVClustering(preset="quality")``, each part on its own.

In order: `preparation` scales the features, `directions` finds the encoder, `candidates` smooths and clusters,
`information` judges partitions without labels, `held_out` those of short texts, `refinement` sets and trains the head,
`runs` and `recipe` call them.
"""
