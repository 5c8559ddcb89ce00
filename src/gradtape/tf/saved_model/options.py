"""Options of saving and loading models; most are kept for programs that set them."""

from __future__ import annotations

from typing import Any

from gradtape.core.errors import public


class SaveOptions:
    """Options of `tf.saved_model.save`.

    Args:
        namespace_whitelist: kept.
        save_debug_info: kept.
        function_aliases: names of functions, by which a server may call them.
        experimental_debug_stripper: kept.
        experimental_io_device: kept.
        experimental_variable_policy: kept.
        experimental_custom_gradients: kept; supplied gradients are always saved.
        experimental_image_format: kept.
        experimental_skip_saver: kept.
        experimental_sharding_callback: kept.
        extra_tags: kept.
    """

    @public
    def __init__(
        self,
        namespace_whitelist: Any = None,
        save_debug_info: bool = False,
        function_aliases: Any = None,
        experimental_debug_stripper: bool = False,
        experimental_io_device: Any = None,
        experimental_variable_policy: Any = None,
        experimental_custom_gradients: bool = True,
        experimental_image_format: bool = False,
        experimental_skip_saver: bool = False,
        experimental_sharding_callback: Any = None,
        extra_tags: Any = None,
    ) -> None:
        self.namespace_whitelist = namespace_whitelist or []
        self.save_debug_info = save_debug_info
        self.function_aliases = function_aliases or {}
        self.experimental_debug_stripper = experimental_debug_stripper
        self.experimental_io_device = experimental_io_device
        self.experimental_variable_policy = experimental_variable_policy
        self.experimental_custom_gradients = experimental_custom_gradients
        self.experimental_image_format = experimental_image_format
        self.experimental_skip_saver = experimental_skip_saver
        self.experimental_sharding_callback = experimental_sharding_callback
        self.extra_tags = extra_tags


class LoadOptions:
    """Options of `tf.saved_model.load`.

    Args:
        allow_partial_checkpoint: kept.
        experimental_io_device: kept.
        experimental_skip_checkpoint: whether variables keep the zeros they are made with.
        experimental_variable_policy: kept.
        experimental_load_function_aliases: whether the loaded object has an attribute
            `function_aliases`, a dict.
    """

    @public
    def __init__(
        self,
        allow_partial_checkpoint: bool = False,
        experimental_io_device: Any = None,
        experimental_skip_checkpoint: bool = False,
        experimental_variable_policy: Any = None,
        experimental_load_function_aliases: bool = False,
    ) -> None:
        self.allow_partial_checkpoint = allow_partial_checkpoint
        self.experimental_io_device = experimental_io_device
        self.experimental_skip_checkpoint = experimental_skip_checkpoint
        self.experimental_variable_policy = experimental_variable_policy
        self.experimental_load_function_aliases = experimental_load_function_aliases
