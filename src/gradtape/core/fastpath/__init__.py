"""Generated code that does for one or two eager tensors what `dispatch.bind` does in general."""
