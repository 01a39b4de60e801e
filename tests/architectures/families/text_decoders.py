"""Decoder-only language models, without a KV cache."""

from .family import Family, TOKENS, ids, tiny

NO_CACHE = dict(use_cache=False)
LOGITS = ("logits",)
GROUPED = dict(num_key_value_heads=2)
# The default implementation of experts in transformers is a grouped matrix product, which cannot be exported to ONNX.
EXPERTS = dict(num_experts_per_tok=2, num_key_value_heads=2, experts_implementation="batched_mm")


def decoder(name, model, inputs=TOKENS, call=NO_CACHE, **config):
    return Family(name, model, inputs, tiny(**config), outputs=LOGITS, call=call)


FAMILIES = [
    decoder("gpt2", "GPT2LMHeadModel", n_inner=48),
    decoder("gpt_neo", "GPTNeoForCausalLM", num_layers=2, num_heads=4,
            attention_types=[[["global", "local"], 1]], window_size=4),
    decoder("gpt_neox", "GPTNeoXForCausalLM", rotary_pct=0.5),
    decoder("gptj", "GPTJForCausalLM", rotary_dim=4),
    decoder("codegen", "CodeGenForCausalLM", rotary_dim=4),
    decoder("gpt_bigcode", "GPTBigCodeForCausalLM", multi_query=True),
    decoder("openai_gpt", "OpenAIGPTLMHeadModel", call={}),
    decoder("ctrl", "CTRLLMHeadModel", n_positions=64, dff=48),
    decoder("opt", "OPTForCausalLM", ffn_dim=48, word_embed_proj_dim=16),
    decoder("bloom", "BloomForCausalLM"),
    decoder("mpt", "MptForCausalLM", d_model=32, n_heads=4, n_layers=2, max_seq_len=64, expansion_ratio=2),
    decoder("xglm", "XGLMForCausalLM", d_model=32, ffn_dim=48, num_layers=2, attention_heads=4),
    decoder("biogpt", "BioGptForCausalLM"),
    decoder("llama", "LlamaForCausalLM", **GROUPED),
    decoder("mistral", "MistralForCausalLM", sliding_window=4, **GROUPED),
    decoder("mixtral", "MixtralForCausalLM", num_local_experts=4, **EXPERTS),
    decoder("qwen2", "Qwen2ForCausalLM", **GROUPED),
    decoder("qwen2_moe", "Qwen2MoeForCausalLM", num_experts=4, moe_intermediate_size=16,
            shared_expert_intermediate_size=24, **EXPERTS),
    decoder("qwen3", "Qwen3ForCausalLM", head_dim=8, **GROUPED),
    decoder("qwen3_moe", "Qwen3MoeForCausalLM", head_dim=8, num_experts=4, moe_intermediate_size=16, **EXPERTS),
    decoder("gemma", "GemmaForCausalLM", head_dim=8, num_key_value_heads=1),
    decoder("gemma2", "Gemma2ForCausalLM", head_dim=8, sliding_window=4, query_pre_attn_scalar=8, **GROUPED),
    decoder("gemma3", "Gemma3ForCausalLM", head_dim=8, sliding_window=4, query_pre_attn_scalar=8, **GROUPED),
    decoder("phi", "PhiForCausalLM", **GROUPED),
    decoder("phi3", "Phi3ForCausalLM", **GROUPED),
    decoder("falcon", "FalconForCausalLM", alibi=False, multi_query=True),
    decoder("stablelm", "StableLmForCausalLM", partial_rotary_factor=0.5, **GROUPED),
    decoder("olmo", "OlmoForCausalLM", **GROUPED),
    decoder("olmo2", "Olmo2ForCausalLM", **GROUPED),
    decoder("olmoe", "OlmoeForCausalLM", num_experts=4, **EXPERTS),
    decoder("starcoder2", "Starcoder2ForCausalLM", **GROUPED),
    decoder("cohere", "CohereForCausalLM", **GROUPED),
    decoder("persimmon", "PersimmonForCausalLM"),
    decoder("nemotron", "NemotronForCausalLM", **GROUPED),
    decoder("granite", "GraniteForCausalLM", **GROUPED),
    decoder("glm", "GlmForCausalLM", head_dim=8, **GROUPED),
    decoder("smollm3", "SmolLM3ForCausalLM", no_rope_layer_interval=2, **GROUPED),
    decoder("gpt_oss", "GptOssForCausalLM", head_dim=8, num_local_experts=4, sliding_window=4, **EXPERTS),
    decoder("deepseek_v3", "DeepseekV3ForCausalLM", moe_intermediate_size=16, n_routed_experts=4, n_group=1,
            topk_group=1,
            q_lora_rank=16, kv_lora_rank=8, qk_rope_head_dim=4, qk_nope_head_dim=8, v_head_dim=8,
            first_k_dense_replace=1, n_shared_experts=1, **{**EXPERTS, "num_key_value_heads": 4}),
    decoder("mamba", "MambaForCausalLM", inputs=(ids(),), state_size=4, time_step_rank=2),
    decoder("mamba2", "Mamba2ForCausalLM", inputs=(ids(),), state_size=4, num_heads=8, head_dim=8, n_groups=1,
            chunk_size=4),
    decoder("rwkv", "RwkvForCausalLM", inputs=(ids(),), attention_hidden_size=32, context_length=64),
    decoder("recurrent_gemma", "RecurrentGemmaForCausalLM", num_hidden_layers=3, lru_width=32,
            attention_window_size=8, **GROUPED),
]
