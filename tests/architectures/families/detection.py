"""Object detection and segmentation networks, each with a backbone."""

from .family import Family, image

BOXES = ("logits", "pred_boxes")
RESNET = dict(model_type="resnet", embedding_size=8, hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1],
              out_features=["stage2", "stage3", "stage4"])
LAST_STAGE = {**RESNET, "out_features": ["stage4"]}
DETR = dict(use_timm_backbone=False, use_pretrained_backbone=False, backbone=None, d_model=32, encoder_layers=1,
            decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=48,
            decoder_ffn_dim=48, num_queries=6, num_labels=5)


def detector(name, model, backbone, outputs=BOXES, size=64, **config):
    return Family(name, model, (image(size),), {**DETR, "backbone_config": backbone, **config}, outputs=outputs)


FAMILIES = [
    detector("detr", "DetrForObjectDetection", LAST_STAGE),
    detector("conditional_detr", "ConditionalDetrForObjectDetection", LAST_STAGE),
    detector("table_transformer", "TableTransformerForObjectDetection", LAST_STAGE),
    detector("deformable_detr", "DeformableDetrForObjectDetection", RESNET, num_feature_levels=3,
             encoder_n_points=2, decoder_n_points=2),
    detector("rt_detr", "RTDetrForObjectDetection",
             dict(model_type="rt_detr_resnet", embedding_size=8, hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1],
                  layer_type="basic", out_features=["stage2", "stage3", "stage4"]),
             encoder_hidden_dim=32, encoder_in_channels=[16, 24, 32], decoder_in_channels=[32, 32, 32],
             num_denoising=0, num_feature_levels=3, decoder_n_points=2, eval_size=None, anchor_image_size=[64, 64]),
    detector("upernet", "UperNetForSemanticSegmentation",
             dict(model_type="convnext", hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1],
                  out_features=["stage1", "stage2", "stage3", "stage4"]),
             outputs=("logits",), hidden_size=16, auxiliary_in_channels=24, auxiliary_channels=8, pool_scales=[1, 2]),
    detector("maskformer", "MaskFormerForInstanceSegmentation",
             dict(model_type="swin", image_size=64, embed_dim=16, depths=[1, 1, 1, 1], num_heads=[2, 2, 4, 4],
                  window_size=4, out_features=["stage1", "stage2", "stage3", "stage4"]),
             outputs=("class_queries_logits", "masks_queries_logits"), fpn_feature_size=32, mask_feature_size=32,
             decoder_config=dict(model_type="detr", d_model=32, encoder_layers=1, decoder_layers=1,
                                 encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=48,
                                 decoder_ffn_dim=48, num_queries=6)),
    detector("depth_anything", "DepthAnythingForDepthEstimation",
             dict(model_type="dinov2", image_size=64, patch_size=16, hidden_size=32, num_hidden_layers=4,
                  num_attention_heads=4, mlp_ratio=2, out_features=["stage1", "stage2", "stage3", "stage4"],
                  reshape_hidden_states=False),
             outputs=("predicted_depth",), patch_size=16, reassemble_hidden_size=32, neck_hidden_sizes=[8, 8, 16, 16],
             fusion_hidden_size=16, head_hidden_size=8),
]
