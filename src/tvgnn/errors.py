"""Exceptions of tvgnn: each message says what was expected, what came and what to do."""

__all__ = [
    "BackendUnavailableError",
    "ClusteringWarning",
    "DataError",
    "GraphError",
    "MemoryLimitError",
    "SchedulerError",
    "TVGNNError",
    "TrainingError",
]


class TVGNNError(Exception):
    """Base class of the errors that tvgnn raises on purpose; the command line shows one line and exits with 2."""


class GraphError(TVGNNError, ValueError):
    """A graph, its weights, its features or its labels are not valid."""


class DataError(TVGNNError, ValueError):
    """A file or a dataset is missing, damaged or not in the expected format."""


class BackendUnavailableError(TVGNNError, RuntimeError):
    """A backend was asked for by name and cannot run here."""


class SchedulerError(BackendUnavailableError):
    """A cluster of workers cannot be started or reached, or was lost."""


class TrainingError(TVGNNError, RuntimeError):
    """Training could not produce a valid result, for example because the loss is not a number."""


class ClusteringWarning(UserWarning):
    """A clustering is valid but probably not what was wanted, for example fewer clusters than asked for."""


class MemoryLimitError(TVGNNError, MemoryError):
    """The estimated memory is above the limit that the caller set."""
