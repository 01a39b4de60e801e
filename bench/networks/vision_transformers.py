"""Transformers over images."""

from .network import PIXELS, image, transformers_network


def vision(name, model, inputs=PIXELS, **config):
    return transformers_network(name, f"{model}ForImageClassification", inputs, num_labels=1000, **config)


NETWORKS = [
    vision("mobilevit_s", "MobileViT", image(256, "pixel_values")),
    transformers_network("segformer_b0", "SegformerForSemanticSegmentation", image(256, "pixel_values"), num_labels=150),
    vision("swin_tiny", "Swin"),
    vision("deit_tiny", "DeiT", hidden_size=192, num_attention_heads=3, intermediate_size=768),
    vision("vit_b16", "ViT"),
]
