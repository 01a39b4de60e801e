"""Makes int8 versions of the networks of the zoo with Tern and its peers, for bench/quantize."""
