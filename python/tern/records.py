"""Tuples with named fields, without the import of `typing` and `collections`, which take longer than the rest of the package."""

from _operator import itemgetter


def record(name, fields, doc):
    """Returns a subclass of tuple with these fields, such as record("Point", "x y", "A point.")."""
    names = tuple(fields.split())

    def new(cls, *values, **named):
        values += tuple(named.pop(field) for field in names[len(values):])
        if named or len(values) != len(names):
            raise TypeError(f"{name} takes the fields {', '.join(names)}")
        return tuple.__new__(cls, values)

    def text(self):
        return f"{name}({', '.join(f'{field}={value!r}' for field, value in zip(names, self))})"

    members = {field: property(itemgetter(i)) for i, field in enumerate(names)}
    return type(name, (tuple,), {"__doc__": doc, "__slots__": (), "__new__": new, "__repr__": text, "__match_args__": names,
                                 "__module__": "tern", "_fields": names,
                                 "__getnewargs__": lambda self: tuple(self), **members})
