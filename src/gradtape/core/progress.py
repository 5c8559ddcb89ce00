"""Progress bars of long computations, in notebooks that have loaded the extension."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar


class ProgressBars:
    """Whether progress bars are shown: `%load_ext gradtape` turns them on."""

    is_shown: ClassVar[bool] = False


def track_progress(items: Iterable[Any], count: int, label: str) -> Iterable[Any]:
    """`items`, with a bar of tqdm around them if bars are shown, tqdm exists and `count` exceeds 1.

    Args:
        items: what a loop goes through.
        count: how many items there are.
        label: what the bar says.

    Returns:
        An iterable of the same items.
    """
    if not ProgressBars.is_shown or count < 2:
        return items
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return items
    bar: Iterable[Any] = tqdm(items, total=count, desc=label, leave=False)
    return bar
