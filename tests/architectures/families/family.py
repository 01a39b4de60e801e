"""The type of an entry of the architecture table."""

from dataclasses import dataclass, field

# Each symbolic dimension has two sizes. The first size is used for the export and the first data set. The second size
# is used for the second data set, which only dynamic models have.
SIZES = {"batch": (2, 3), "length": (8, 11), "target": (5, 7)}


@dataclass(frozen=True)
class Input:
    """A model input. Each element of `dims` is a number or the name of a symbolic dimension (a key of SIZES)."""

    name: str
    dims: tuple
    kind: str = "normal"  # normal | uniform | ids | mask | boxes | positions
    high: int = 99  # ids and box coordinates are less than this number


@dataclass(frozen=True)
class Family:
    name: str
    model: str  # a class in transformers; its config_class is called with `config`
    inputs: tuple
    config: dict
    sizes: dict = field(default_factory=dict)  # overrides SIZES for networks that need special lengths
    outputs: tuple = ()  # names of the results to export; if empty, all float tensors are exported
    call: dict = field(default_factory=dict)  # constant keyword arguments of forward
    method: str = "forward"

    def size(self, dim, data_set):
        return dim if isinstance(dim, int) else {**SIZES, **self.sizes}[dim][data_set]

    def symbols(self):
        """Returns the names of the symbolic dimensions that the inputs use, "batch" first."""
        found = dict.fromkeys(d for i in self.inputs for d in i.dims if isinstance(d, str))
        return sorted(found, key=lambda d: d != "batch")


def ids(name="input_ids", length="length", high=99):
    return Input(name, ("batch", length), "ids", high)


def mask(name="attention_mask", length="length"):
    return Input(name, ("batch", length), "mask")


def boxes(name="bbox", limit=60):
    return Input(name, ("batch", "length", 4), "boxes", limit)


def image(size=32, channels=3, name="pixel_values"):
    return Input(name, ("batch", channels, size, size))


TOKENS = (ids(), mask())
SEQ2SEQ = (ids(), mask(), ids("decoder_input_ids", "target"))

# Nearly all text configurations accept these options.
TINY = dict(
    vocab_size=99,
    hidden_size=32,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=48,
    max_position_embeddings=64,
    pad_token_id=0,
    bos_token_id=1,
    eos_token_id=2,
)


def tiny(**changes):
    return {**TINY, **changes}
