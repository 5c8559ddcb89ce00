"""tf.DeviceSpec: the parts of the name of a device."""

from __future__ import annotations

from typing import Any

from gradtape.core.errors import public

FIELDS = ("job", "replica", "task", "device_type", "device_index")
SHORT_TYPES = ("CPU", "GPU", "TPU")  # types that may be given without "device:"


def as_index(value: Any) -> int | None:
    """Convert an index to an int; None stays None."""
    return None if value is None else int(value)


class DeviceSpec:
    """The name of a device in parts; each part may be unknown.

    Args:
        job: the name of the job.
        replica: the index of the replica.
        task: the index of the task.
        device_type: such as "CPU" or "GPU".
        device_index: the index of the device.

    Example:
        >>> tf.DeviceSpec(job="worker", device_type="GPU", device_index=1).to_string()
        '/job:worker/device:GPU:1'
        >>> tf.DeviceSpec.from_string("/cpu:0").device_type
        'CPU'
    """

    __slots__ = ("_parts",)

    @public
    def __init__(
        self,
        job: Any = None,
        replica: Any = None,
        task: Any = None,
        device_type: Any = None,
        device_index: Any = None,
    ) -> None:
        kind = None if device_type is None else str(device_type)
        kind = kind.upper() if kind is not None and kind.upper() in SHORT_TYPES else kind
        self._parts = (
            None if job is None else str(job),
            as_index(replica),
            as_index(task),
            kind,
            as_index(device_index),
        )

    @classmethod
    @public
    def from_string(cls, spec: str) -> DeviceSpec:
        """Parse a name such as "/job:worker/task:0/device:GPU:1" or "/cpu:0".

        Args:
            spec: the name.

        Returns:
            A new `DeviceSpec`.

        Raises:
            ValueError: if the name has unknown parts, or two devices.
        """
        return cls(**parse_device_name(spec))

    @public
    def parse_from_string(self, spec: str) -> DeviceSpec:
        """Parse a name; as `from_string`.

        Args:
            spec: the name.

        Returns:
            A new `DeviceSpec`.
        """
        return self.from_string(spec)

    @property
    def job(self) -> str | None:
        """The name of the job."""
        return self._parts[0]

    @property
    def replica(self) -> int | None:
        """The index of the replica."""
        return self._parts[1]

    @property
    def task(self) -> int | None:
        """The index of the task."""
        return self._parts[2]

    @property
    def device_type(self) -> str | None:
        """The type of the device."""
        return self._parts[3]

    @property
    def device_index(self) -> int | None:
        """The index of the device."""
        return self._parts[4]

    @public
    def to_string(self) -> str:
        """The name; an unknown index of a device is "*".

        Returns:
            The name, such as "/job:worker/device:GPU:1".
        """
        job, replica, task, kind, index = self._parts
        text = "" if job is None else f"/job:{job}"
        text += "" if replica is None else f"/replica:{replica}"
        text += "" if task is None else f"/task:{task}"
        if kind is not None:
            text += f"/device:{kind}:{'*' if index is None else index}"
        return text

    @public
    def make_merged_spec(self, dev: DeviceSpec) -> DeviceSpec:
        """A spec with the parts of `dev`, and with those of this spec where `dev` has none.

        Args:
            dev: the `DeviceSpec` whose parts count first.

        Returns:
            A new `DeviceSpec`.
        """
        pairs = zip(self._parts, dev._parts, strict=True)
        return DeviceSpec(*(mine if other is None else other for mine, other in pairs))

    @public
    def replace(self, **kwargs: Any) -> DeviceSpec:
        """A spec with other parts.

        Args:
            **kwargs: parts and their new values, such as `device_index=1`.

        Returns:
            A new `DeviceSpec`.
        """
        return DeviceSpec(**{**dict(zip(FIELDS, self._parts, strict=True)), **kwargs})

    def __eq__(self, other: object) -> bool:
        """Whether all parts are equal."""
        return isinstance(other, DeviceSpec) and self._parts == other._parts

    def __hash__(self) -> int:
        """A hash of the parts."""
        return hash(self._parts)

    def __repr__(self) -> str:
        """The parts."""
        parts = zip(FIELDS, self._parts, strict=True)
        return f"<DeviceSpec({', '.join(f'{name}={part}' for name, part in parts)})>"


def parse_device_name(name: str) -> dict[str, Any]:
    """Parse the name of a device into the arguments of `DeviceSpec`."""
    parts: dict[str, Any] = {}
    for text in filter(None, name.split("/")):
        key, *rest = text.split(":")
        if key in ("job", "replica", "task") and len(rest) == 1:
            parts[key] = rest[0]
            continue
        if key.upper() in SHORT_TYPES and len(rest) <= 1:
            rest = [key, *(rest or ["*"])]
        elif key != "device" or len(rest) not in (1, 2):
            raise ValueError(
                f"Unknown attribute '{key}' is encountered while parsing the device spec: "
                f"'{name}'. Use parts such as /job:worker, /task:0 and /device:GPU:0."
            )
        if "device_type" in parts:
            raise ValueError(f"Multiple device types are not allowed while parsing '{name}'.")
        parts["device_type"] = rest[0]
        if len(rest) == 2 and rest[1] != "*":
            parts["device_index"] = rest[1]
    return parts
