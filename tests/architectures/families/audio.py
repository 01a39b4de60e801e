"""Networks for waveforms, spectrograms and time series."""

from .family import Family, Input, ids, mask

LOGITS = ("logits",)
WAVE = (Input("input_values", ("batch", "samples")),)
SAMPLES = {"samples": (400, 480)}
WAVE2VEC = dict(vocab_size=32, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48,
                conv_dim=(16, 16, 16), conv_stride=(5, 2, 2), conv_kernel=(10, 3, 3), num_conv_pos_embeddings=8,
                num_conv_pos_embedding_groups=2, pad_token_id=0, bos_token_id=1, eos_token_id=2)
SPEECH = dict(vocab_size=99, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
              decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48, num_mel_bins=16,
              pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=2)
SERIES = dict(prediction_length=4, context_length=16, num_input_channels=2, patch_length=4, patch_stride=4)


def wave(name, model, outputs=LOGITS, **config):
    return Family(name, model, WAVE, {**WAVE2VEC, **config}, SAMPLES, outputs)


FAMILIES = [
    wave("wav2vec2", "Wav2Vec2ForCTC"),
    wave("hubert", "HubertForCTC", feat_extract_norm="layer", do_stable_layer_norm=True),
    wave("wavlm", "WavLMForCTC", num_buckets=8, max_bucket_distance=16),
    wave("unispeech", "UniSpeechForCTC", num_ctc_classes=32),
    wave("unispeech_sat", "UniSpeechSatForCTC"),
    wave("data2vec_audio", "Data2VecAudioForCTC", conv_pos_kernel_size=3),
    wave("sew", "SEWForCTC", squeeze_factor=2),
    wave("sew_d", "SEWDForCTC", squeeze_factor=2, position_buckets=8, max_position_embeddings=64),
    wave("wav2vec2_conformer", "Wav2Vec2ConformerForCTC", position_embeddings_type="relative",
         conv_depthwise_kernel_size=5),
    Family("whisper", "WhisperForConditionalGeneration",
           (Input("input_features", ("batch", 16, 40)), ids("decoder_input_ids", "target"),
            mask("decoder_attention_mask", "target")),
           dict(SPEECH, max_source_positions=20, max_target_positions=32, suppress_tokens=None,
                begin_suppress_tokens=None), outputs=LOGITS, call=dict(use_cache=False)),
    Family("whisper_encoder", "WhisperModel", (Input("input_features", ("batch", 16, 40)),),
           dict(SPEECH, max_source_positions=20, max_target_positions=32), outputs=("last_hidden_state",),
           method="encoder"),
    Family("speech_to_text", "Speech2TextForConditionalGeneration",
           (Input("input_features", ("batch", "length", 16)), ids("decoder_input_ids", "target")),
           dict(SPEECH, conv_channels=16, input_feat_per_channel=16, max_source_positions=64,
                max_target_positions=32), {"length": (24, 40)}, LOGITS, dict(use_cache=False)),
    Family("moonshine", "MoonshineForConditionalGeneration",
           (Input("input_values", ("batch", "samples")), ids("decoder_input_ids", "target")),
           dict(vocab_size=99, hidden_size=32, intermediate_size=48, encoder_num_hidden_layers=2,
                decoder_num_hidden_layers=2, encoder_num_attention_heads=4, decoder_num_attention_heads=4,
                encoder_num_key_value_heads=4, decoder_num_key_value_heads=4, max_position_embeddings=64,
                pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1),
           {"samples": (2000, 2600)}, LOGITS, dict(use_cache=False)),
    Family("wav2vec2_bert", "Wav2Vec2BertModel", (Input("input_features", ("batch", "length", 24)),),
           dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48,
                feature_projection_input_dim=24, conv_depthwise_kernel_size=5, left_max_position_embeddings=8,
                right_max_position_embeddings=4), {"length": (16, 21)}, ("last_hidden_state",)),
    Family("audio_spectrogram_transformer", "ASTForAudioClassification",
           (Input("input_values", ("batch", 24, 16)),),
           dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, patch_size=4,
                frequency_stride=4, time_stride=4, max_length=24, num_mel_bins=16, num_labels=7), outputs=LOGITS),
    Family("clap_audio", "ClapAudioModelWithProjection", (Input("input_features", ("batch", 1, 64, 16)),),
           dict(spec_size=32, num_mel_bins=16, patch_size=4, patch_stride=[4, 4], window_size=2,
                patch_embeds_hidden_size=16, hidden_size=32, projection_dim=16, depths=[1, 2],
                num_attention_heads=[2, 2], num_hidden_layers=2, enable_fusion=False,
                projection_hidden_size=16), outputs=("audio_embeds",)),
    Family("encodec", "EncodecModel", (Input("input_values", ("batch", 1, "samples")),),
           dict(sampling_rate=16000, audio_channels=1, num_filters=4, hidden_size=16, codebook_size=32,
                codebook_dim=16, upsampling_ratios=[4, 2], num_lstm_layers=1, target_bandwidths=[24.0],
                num_residual_layers=1, use_causal_conv=True), {"samples": (64, 96)}, ("audio_values",)),
    Family("dac", "DacModel", (Input("input_values", ("batch", 1, "samples")),),
           dict(encoder_hidden_size=8, downsampling_ratios=[2, 4], decoder_hidden_size=16, n_codebooks=2,
                codebook_size=32, codebook_dim=8, upsampling_ratios=[4, 2]), {"samples": (64, 96)},
           ("audio_values",)),
    Family("vits", "VitsModel", (ids(high=38), mask()),
           dict(vocab_size=38, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, ffn_dim=24, window_size=4,
                flow_size=16, spectrogram_bins=9, use_stochastic_duration_prediction=False,
                upsample_initial_channel=16, upsample_rates=[2, 2], upsample_kernel_sizes=[4, 4],
                resblock_kernel_sizes=[3], resblock_dilation_sizes=[[1, 3]], prior_encoder_num_flows=2,
                prior_encoder_num_wavenet_layers=2, duration_predictor_filter_channels=16, noise_scale=0.0),
           outputs=("waveform",)),
    Family("univnet", "UnivNetModel",
           (Input("input_features", ("batch", "length", 12)), Input("noise_sequence", ("batch", "length", 8))),
           dict(model_in_channels=8, model_hidden_channels=8, num_mel_bins=12, resblock_kernel_sizes=[3, 3],
                resblock_stride_sizes=[2, 2], resblock_dilation_sizes=[[1, 3], [1, 3]],
                kernel_predictor_num_blocks=1, kernel_predictor_hidden_channels=8, kernel_predictor_conv_size=3),
           outputs=("waveforms",)),
    Family("patchtst", "PatchTSTForPrediction", (Input("past_values", ("batch", 16, 2)),),
           dict(SERIES, d_model=16, num_hidden_layers=2, num_attention_heads=4, ffn_dim=24, loss="mse"), outputs=("prediction_outputs",)),
    Family("patchtsmixer", "PatchTSMixerForPrediction", (Input("past_values", ("batch", 16, 2)),),
           dict(SERIES, d_model=8, num_layers=2, self_attn=True, self_attn_heads=2, gated_attn=True, loss="mse"),
           outputs=("prediction_outputs",)),
]
