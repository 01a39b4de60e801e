"""Encoder-decoder text models."""

from .family import Family, SEQ2SEQ

NO_CACHE = dict(use_cache=False)
LOGITS = ("logits",)
BART = dict(vocab_size=99, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
            decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48, max_position_embeddings=64,
            pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=2, forced_eos_token_id=None)
T5 = dict(vocab_size=99, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_decoder_layers=2, num_heads=4,
          relative_attention_num_buckets=8, pad_token_id=0, eos_token_id=1, decoder_start_token_id=0)


def seq2seq(name, model, base, sizes=(), **config):
    return Family(name, model, SEQ2SEQ, {**base, **config}, dict(sizes), LOGITS, NO_CACHE)


FAMILIES = [
    seq2seq("t5", "T5ForConditionalGeneration", T5, d_kv=4),
    seq2seq("mt5", "MT5ForConditionalGeneration", T5, feed_forward_proj="gated-gelu", tie_word_embeddings=False),
    seq2seq("umt5", "UMT5ForConditionalGeneration", T5),
    seq2seq("longt5", "LongT5ForConditionalGeneration", T5, local_radius=3, encoder_attention_type="local"),
    seq2seq("switch_transformers", "SwitchTransformersForConditionalGeneration", T5, num_experts=4,
            expert_capacity=8, num_sparse_encoder_layers=1, num_sparse_decoder_layers=1),
    seq2seq("bart", "BartForConditionalGeneration", BART),
    seq2seq("mbart", "MBartForConditionalGeneration", BART, scale_embedding=True),
    seq2seq("pegasus", "PegasusForConditionalGeneration", BART),
    seq2seq("pegasus_x", "PegasusXForConditionalGeneration", BART, block_size=4, num_global_tokens=2),
    seq2seq("marian", "MarianMTModel", BART, activation_function="swish"),
    seq2seq("blenderbot", "BlenderbotForConditionalGeneration", BART),
    seq2seq("m2m_100", "M2M100ForConditionalGeneration", BART),
    seq2seq("plbart", "PLBartForConditionalGeneration", BART),
    seq2seq("led", "LEDForConditionalGeneration", BART, attention_window=4, max_encoder_position_embeddings=64,
            max_decoder_position_embeddings=64, sizes={"length": (8, 16)}),
    seq2seq("prophetnet", "ProphetNetForConditionalGeneration", {}, vocab_size=99, hidden_size=32,
            num_encoder_layers=2, num_decoder_layers=2, num_encoder_attention_heads=4,
            num_decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48,
            max_position_embeddings=64, ngram=2, num_buckets=8, relative_max_distance=16),
    seq2seq("fsmt", "FSMTForConditionalGeneration", BART, langs=["en", "de"], src_vocab_size=99,
            tgt_vocab_size=99),
]
