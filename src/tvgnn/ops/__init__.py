"""Operators: one folder each, with the plain torch reference beside the fast kernels."""
