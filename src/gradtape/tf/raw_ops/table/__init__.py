"""The raw ops of TensorFlow that gradtape has: signatures of its op registry, and what runs here.

Each module has rows for one subject. `tf/raw_ops/registry.py` describes the form of a row.
"""
