"""The table of architectures. FAMILIES maps a name to its Family."""

from . import audio, detection, multimodal, text_decoders, text_encoders, text_seq2seq, vision

_MODULES = (text_encoders, text_decoders, text_seq2seq, vision, detection, audio, multimodal)

FAMILIES = {family.name: family for module in _MODULES for family in module.FAMILIES}
