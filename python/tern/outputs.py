"""The results of a run."""


class Outputs(dict):
    """The results of a run, by name. An int selects a result by its position.

    >>> results = Outputs(scores=[0.25, 0.75], label=[1])
    >>> results["label"], results[0]
    ([1], [0.25, 0.75])
    >>> scores, label = results.values()
    """

    __slots__ = ()

    def __missing__(self, key):
        if isinstance(key, int):
            return list(self.values())[key]
        raise KeyError(f"there is no output {key!r}; there are: {', '.join(self)}")

    def __repr__(self):
        lines = (f"  {name}: {describe(value)}" for name, value in self.items())
        return "\n".join(["Outputs(", *lines, ")"])


def describe(value):
    """Returns a short text for a result, such as `float32(1, 10)` or `list of 3`."""
    if hasattr(value, "dtype"):
        return f"{'str' if value.dtype == object else value.dtype}{value.shape}"
    if isinstance(value, (list, dict)):
        return f"{type(value).__name__} of {len(value)}"
    return repr(value)
