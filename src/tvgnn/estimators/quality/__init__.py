"""The recipe of ``TVClustering(preset="quality")``, each part on its own.

In order: `preparation` scales the features, `directions` finds the encoder, `candidates` smooths and clusters,
`information` judges partitions without labels, `held_out` those of short texts, `refinement` sets and trains the head,
`agreement` brings partitions together. `recipe` calls them: `inputs` is what all runs read, `edge_use` decides what the
edges are good for, `runs` finds partitions, `combination` makes one network of them.
"""
