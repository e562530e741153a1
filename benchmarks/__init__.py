"""Performance measurements: `python -m benchmarks.run --suite short|full`."""
