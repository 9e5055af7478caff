"""Frozen, plain, storable values. Nothing in here acts."""
