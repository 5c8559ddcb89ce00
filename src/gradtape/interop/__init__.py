"""Bridges to PyTorch and JAX: functions of one framework that the other differentiates."""

from importlib import import_module as _import_module


def __getattr__(name: str) -> object:
    """Import a bridge on first use, because it imports its framework."""
    if name in ("jax", "torch"):
        return _import_module(f"gradtape.interop.{name}")
    raise AttributeError(f"module 'gradtape.interop' has no attribute {name!r}")
