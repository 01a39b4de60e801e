"""The parts of bench/quantize. Make int8 models of the zoo's networks with Tern and its peers, and compare them."""
