"""Functions of PyTorch for our tape, and our functions for PyTorch's autograd.

Values cross the border through DLPack, without a copy. Derivatives of any order exist: where one
framework records a backward pass of the other, the pull-back crosses the border as a function of
its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from gradtape.core import nest
from gradtape.core.context import local
from gradtape.core.convert import convert
from gradtape.core.errors import public
from gradtape.core.tensor import Tensor
from gradtape.interop.bridge import (
    RecordedCall,
    as_eager_tensors,
    make_pull_back,
    name_like,
    tensor_from_dlpack,
)
from gradtape.tape.custom_gradient import custom_gradient


@public
def to_torch_tensor(tensor: Any) -> torch.Tensor:
    """A tensor of PyTorch that shares the memory of `tensor`; do not write to it.

    PyTorch's autograd does not know where it comes from; `to_torch` wraps whole functions.
    """
    return torch.from_dlpack(convert(tensor))


@public
def from_torch_tensor(tensor: torch.Tensor) -> Tensor:
    """A tensor that shares the memory of a tensor of PyTorch; do not write to that any more."""
    return tensor_from_dlpack(tensor.detach().cpu().contiguous())


@public
def from_torch(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function of our tensors from one of PyTorch's, which our tapes differentiate.

    Args:
        function: takes and returns tensors of PyTorch; the result may be a nested structure.

    Returns:
        A function of our tensors. Gradients of any order by its arguments flow through our tapes;
        the parameters of a PyTorch module get none.

    Example:
        ```python
        soft = gradtape.interop.torch.from_torch(torch.nn.functional.softplus)
        with tf.GradientTape() as tape:
            y = soft(x)
        tape.gradient(y, x)
        ```
    """

    def call(*args: Any) -> Any:
        return apply_torch(function, as_eager_tensors("from_torch", args))

    return public(name_like(function, call))


def apply_torch(function: Callable[..., Any], args: list[Tensor]) -> Any:
    """Apply a function of PyTorch to our tensors, with its gradient."""
    structure: list[Any] = []

    @custom_gradient
    def run(*tensors: Tensor) -> Any:
        inputs = [to_torch_tensor(t) for t in tensors]
        for t in inputs:
            if t.is_floating_point() or t.is_complex():
                t.requires_grad_()
        with torch.enable_grad():
            result = function(*inputs)
        leaves = nest.flatten(result)
        structure.append(result)

        def grad(*cotangents: Any, variables: Any = None) -> Any:
            if local.recorders:
                found = iter(
                    compute_differentiable_gradients(function, list(tensors), list(cotangents))
                )
            else:
                found = iter(differentiate_once(leaves, inputs, list(cotangents)))
            answer = [next(found) if t.requires_grad else None for t in inputs]
            return answer if variables is None else (answer, [None] * len(variables))

        return [from_torch_tensor(leaf) for leaf in leaves], grad

    results = run(*args)
    return nest.pack_sequence_as(structure[0], list(results))


def differentiate_once(leaves: list[Any], inputs: list[Any], cotangents: list[Any]) -> list[Any]:
    """Gradients by the graph that PyTorch has recorded."""
    sources = [t for t in inputs if t.requires_grad]
    known = [
        (leaf, to_torch_tensor(g))
        for leaf, g in zip(leaves, cotangents, strict=True)
        if leaf.requires_grad
    ]
    if not known:
        return [from_torch_tensor(torch.zeros_like(t)) for t in sources]
    found = torch.autograd.grad(
        [leaf for leaf, _ in known],
        sources,
        [g for _, g in known],
        retain_graph=True,
        allow_unused=True,
    )
    return [
        from_torch_tensor(torch.zeros_like(t) if g is None else g)
        for t, g in zip(sources, found, strict=True)
    ]


def compute_differentiable_gradients(
    function: Any, tensors: list[Any], cotangents: list[Any]
) -> list[Any]:
    """Gradients as a function of arguments and cotangents, which our tapes differentiate."""
    count = len(tensors)

    def pull_back(*values: Any) -> Any:
        sources = [t for t in values[:count] if t.requires_grad]
        leaves = nest.flatten(function(*values[:count]))
        known = [
            (leaf, g) for leaf, g in zip(leaves, values[count:], strict=True) if leaf.requires_grad
        ]
        found = torch.autograd.grad(
            [leaf for leaf, _ in known],
            sources,
            [g for _, g in known],
            create_graph=True,
            allow_unused=True,
        )
        return [
            torch.zeros_like(t) if g is None else g for t, g in zip(sources, found, strict=True)
        ]

    return list(apply_torch(pull_back, [*tensors, *cotangents]))


@public
def to_torch(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function of PyTorch's tensors from one of ours, which autograd differentiates.

    Args:
        function: takes and returns our tensors; the result may be a nested structure.

    Returns:
        A function of PyTorch's tensors. Gradients of any order by its arguments flow through
        autograd; our variables inside the function get none.
    """

    def call(*args: Any) -> Any:
        return apply_ours(function, args)

    return name_like(function, call)


def apply_ours(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """Apply our function to tensors of PyTorch, with its gradient."""
    structure: list[Any] = []

    class Bridge(torch.autograd.Function):  # type: ignore[misc]
        """One call of our function."""

        @staticmethod
        def forward(ctx: Any, *inputs: Any) -> Any:
            call = RecordedCall(function, [from_torch_tensor(t) for t in inputs])
            ctx.call = call
            ctx.save_for_backward(*inputs)
            structure.append(call.structure)
            return tuple(to_torch_tensor(t) for t in call.results)

        @staticmethod
        def backward(ctx: Any, *cotangents: Any) -> Any:
            inputs = ctx.saved_tensors
            gs = [
                torch.zeros(t.shape, dtype=to_torch_tensor(t).dtype) if g is None else g
                for g, t in zip(cotangents, ctx.call.results, strict=True)
            ]
            if torch.is_grad_enabled():  # with create_graph=True
                pull_back = make_pull_back(function, len(inputs))
                found = iter(apply_ours(pull_back, (*inputs, *gs)))
            else:
                given = [from_torch_tensor(g) for g in gs]
                found = iter([to_torch_tensor(g) for g in ctx.call.pull_back(given)])
            return tuple(
                next(found) if t.is_floating_point() or t.is_complex() else None for t in inputs
            )

    results = Bridge.apply(*args)
    return nest.pack_sequence_as(structure[0], list(results))
