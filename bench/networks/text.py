"""Transformers over text tokens."""

from .network import Input, transformers_network


def tokens(length, vocabulary, names=()):
    dims = (("batch", 1), ("length", length))
    others = tuple(Input(n, dims, "ids" if n == "token_type_ids" else "ones", 2) for n in names)
    return (Input("input_ids", dims, "ids", vocabulary), *others)


BERT = tokens(128, 30522, ("attention_mask", "token_type_ids"))

NETWORKS = [
    transformers_network("bert_base", "BertModel", BERT, ("last_hidden_state", "pooler_output")),
    transformers_network("distilbert", "DistilBertModel", tokens(128, 30522, ("attention_mask",)), ("last_hidden_state",)),
    transformers_network("tinybert", "BertModel", BERT, ("last_hidden_state", "pooler_output"),
                         hidden_size=312, num_hidden_layers=4, intermediate_size=1200),
    transformers_network("gpt2", "GPT2LMHeadModel", tokens(64, 50257), ("logits",), dynamo=True, fixed={"use_cache": False}),
]
