"""What tvgnn is compared with, written from the formulas."""
