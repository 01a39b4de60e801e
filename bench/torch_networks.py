"""The networks of torch_compile.py, with random weights: ResNet-18, BERT base and a small GPT, from the package transformers."""

import torch


def resnet18(size=224):
    from transformers import ResNetConfig, ResNetForImageClassification

    config = ResNetConfig(depths=[2, 2, 2, 2], hidden_sizes=[64, 128, 256, 512], layer_type="basic", embedding_size=64, num_labels=1000)
    return _randomized(ResNetForImageClassification(config)), {"pixel_values": torch.randn(1, 3, size, size)}


def bert_base(layers=12, tokens=128):
    from transformers import BertConfig, BertModel

    inputs = {"input_ids": torch.randint(0, 30000, (1, tokens)), "attention_mask": torch.ones(1, tokens, dtype=torch.long)}
    inputs["attention_mask"][:, tokens - 8:] = 0
    return _randomized(BertModel(BertConfig(num_hidden_layers=layers))), inputs


def small_gpt(layers=6, tokens=128):
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(n_layer=layers, n_embd=384, n_head=6, vocab_size=8000, bos_token_id=0, eos_token_id=0, use_cache=False)
    return _randomized(GPT2LMHeadModel(config)), {"input_ids": torch.randint(0, 8000, (1, tokens))}


NETWORKS = {"resnet18": resnet18, "bert_base": bert_base, "small_gpt": small_gpt}


def _randomized(model):
    """Adds noise to every parameter, so that no bias is zero and no scale is one."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.02)
    return model.eval()


def tensors(results):
    """Returns the tensors of a ModelOutput."""
    return {name: value for name, value in results.items() if isinstance(value, torch.Tensor)}
