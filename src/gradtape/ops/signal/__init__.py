"""Primitives of signals: Fourier and cosine transforms, frames."""
