"""Training: the loop, when it stops, and what it shows meanwhile."""

from tvgnn.training.loop import TrainingConfig, TrainingResult, train
from tvgnn.training.progress import TrainingProgress

__all__ = ["TrainingConfig", "TrainingProgress", "TrainingResult", "train"]
