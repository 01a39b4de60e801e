"""Networks for text and images together, and DecisionTransformer."""

from .family import Family, Input, TOKENS, boxes, image, ids, tiny

TEXT = tiny()
VISION = dict(image_size=32, patch_size=8, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
              intermediate_size=48)
SIMILARITY = ("logits_per_text", "text_embeds", "image_embeds")
PAIR = (*TOKENS, image())


def dual(name, model, text=TEXT, vision=VISION, outputs=SIMILARITY, **config):
    return Family(name, model, PAIR, dict(text_config=text, vision_config=vision, projection_dim=16, **config),
                  outputs=outputs)


FAMILIES = [
    dual("clip", "CLIPModel"),
    dual("siglip", "SiglipModel", tiny(projection_size=32)),
    dual("blip", "BlipForImageTextRetrieval", outputs=("itm_score",)),
    dual("altclip", "AltCLIPModel", tiny(project_dim=16)),
    dual("chinese_clip", "ChineseCLIPModel"),
    dual("groupvit", "GroupViTModel", vision=dict(VISION, depths=[1, 1], num_group_tokens=[4, 0],
                                                  num_output_groups=[4, 2])),
    Family("clipseg", "CLIPSegForImageSegmentation", PAIR,
           dict(text_config=TEXT, vision_config=VISION, projection_dim=16, reduce_dim=16, extract_layers=[0, 1],
                decoder_num_attention_heads=2, decoder_intermediate_size=24), outputs=("logits",)),
    Family("owlvit", "OwlViTForObjectDetection", PAIR,
           dict(text_config=TEXT, vision_config=VISION, projection_dim=32), outputs=("logits", "pred_boxes")),
    Family("git", "GitForCausalLM", PAIR, tiny(vision_config=VISION), outputs=("logits",),
           call=dict(use_cache=False)),
    Family("trocr", "VisionEncoderDecoderModel", (image(), ids("decoder_input_ids", "target")),
           dict(encoder=dict(model_type="vit", **VISION),
                decoder=dict(model_type="trocr", vocab_size=99, d_model=32, decoder_layers=2,
                             decoder_attention_heads=4, decoder_ffn_dim=48, max_position_embeddings=64,
                             is_decoder=True, add_cross_attention=True)),
           outputs=("logits",), call=dict(use_cache=False)),
    Family("lxmert", "LxmertModel",
           (ids(), Input("visual_feats", ("batch", 6, 16)), Input("visual_pos", ("batch", 6, 4), "uniform")),
           tiny(l_layers=1, x_layers=1, r_layers=1, visual_feat_dim=16)),
    Family("visual_bert", "VisualBertModel",
           (ids(), Input("visual_embeds", ("batch", 6, 16))), tiny(visual_embedding_dim=16)),
    Family("layoutlmv3", "LayoutLMv3Model",
           (*TOKENS, boxes(), image()),
           tiny(input_size=32, patch_size=8, max_2d_position_embeddings=64, coordinate_size=4, shape_size=8,
                rel_pos_bins=8, max_rel_pos=16, rel_2d_pos_bins=8, max_rel_2d_pos=16)),
    Family("pix2struct_vision", "Pix2StructVisionModel", (Input("flattened_patches", ("batch", 12, 50), "positions"),),
           dict(hidden_size=32, patch_embed_hidden_size=48, d_ff=48, d_kv=8, num_hidden_layers=2,
                num_attention_heads=4, patch_size=4, num_channels=3, seq_len=64)),
    Family("decision_transformer", "DecisionTransformerModel",
           (Input("states", ("batch", "length", 5)), Input("actions", ("batch", "length", 3)),
            Input("rewards", ("batch", "length", 1)), Input("returns_to_go", ("batch", "length", 1)),
            Input("timesteps", ("batch", "length"), "ids", 20), TOKENS[1]),
           dict(state_dim=5, act_dim=3, hidden_size=32, max_ep_len=32, n_layer=2, n_head=4),
           outputs=("state_preds", "action_preds", "return_preds")),
]
