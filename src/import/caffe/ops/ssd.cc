// Converts the layers of SSD detectors.
#include <algorithm>
#include <cmath>

#include "import/caffe/ops/emit.h"

namespace tern::caffe {
namespace {

constexpr int64_t kMaxPriors = 1 << 22;  // the constant then has 128 MiB

struct PriorSizes {
  std::vector<std::pair<float, float>> boxes;  // width and height of each prior at a position
  float image_width = 0, image_height = 0, step_x = 0, step_y = 0;
};

// Returns 1 and the given ratios, each with its inverse if `flip` is set, without repetitions.
std::vector<float> Ratios(const pb::PriorBoxParameter& p) {
  std::vector<float> ratios = {1};
  for (const float ratio : p.aspect_ratio()) {
    const auto same = [&](float other) { return std::fabs(ratio - other) < 1e-6F; };
    if (std::any_of(ratios.begin(), ratios.end(), same)) continue;
    ratios.push_back(ratio);
    if (p.flip()) ratios.push_back(1 / ratio);
  }
  return ratios;
}

// Caffe truncates the sizes to integers.
Status AddBoxes(const Layer& n, const pb::PriorBoxParameter& p, PriorSizes& sizes) {
  if (p.min_size_size() == 0) return n.Bad("min_size is missing");
  if (p.max_size_size() != 0 && p.max_size_size() != p.min_size_size())
    return n.Bad("has ", p.min_size_size(), " min_size, but ", p.max_size_size(), " max_size");
  const std::vector<float> ratios = Ratios(p);
  for (int i = 0; i < p.min_size_size(); ++i) {
    if (!(p.min_size(i) > 0 && p.min_size(i) < 1e9F))
      return n.Bad("min_size must be positive, got ", p.min_size(i));
    const float least = std::trunc(p.min_size(i));
    sizes.boxes.emplace_back(least, least);
    if (i < p.max_size_size()) {
      if (!(p.max_size(i) > p.min_size(i))) return n.Bad("max_size must be greater than min_size");
      const float middle = std::sqrt(least * std::trunc(p.max_size(i)));
      sizes.boxes.emplace_back(middle, middle);
    }
    for (const float ratio : ratios) {
      if (!(ratio > 0)) return n.Bad("aspect_ratio must be positive, got ", ratio);
      if (std::fabs(ratio - 1) < 1e-6F) continue;
      sizes.boxes.emplace_back(least * std::sqrt(ratio), least / std::sqrt(ratio));
    }
  }
  return {};
}

Result<PriorSizes> PriorSizesOf(const Layer& n, const Dims& layer, const Dims& image) {
  const auto& p = n.proto.prior_box_param();
  PriorSizes sizes;
  TERN_TRY(AddBoxes(n, p, sizes));
  const bool given = p.has_img_h() || p.has_img_w();
  sizes.image_height = static_cast<float>(given ? p.img_h() : p.has_img_size() ? p.img_size() : image[2]);
  sizes.image_width = static_cast<float>(given ? p.img_w() : p.has_img_size() ? p.img_size() : image[3]);
  if (sizes.image_height < 1 || sizes.image_width < 1) return n.Bad("img_h and img_w must be positive");
  const bool steps = p.has_step_h() || p.has_step_w();
  sizes.step_y = steps          ? p.step_h()
                 : p.has_step() ? p.step()
                                : sizes.image_height / static_cast<float>(layer[2]);
  sizes.step_x = steps          ? p.step_w()
                 : p.has_step() ? p.step()
                                : sizes.image_width / static_cast<float>(layer[3]);
  if (!(sizes.step_x > 0) || !(sizes.step_y > 0)) return n.Bad("step must be positive");
  return sizes;
}

Status FillVariances(const Layer& n, float* out, int64_t priors) {
  const auto& variance = n.proto.prior_box_param().variance();
  if (variance.size() > 1 && variance.size() != 4)
    return n.Bad("variance must have 1 or 4 numbers, got ", variance.size());
  for (int64_t i = 0; i < priors * 4; ++i)
    out[i] = variance.empty() ? 0.1F : variance[variance.size() == 1 ? 0 : static_cast<int>(i % 4)];
  return {};
}

// Emits a constant [1, 2, priors * 4]: the boxes at each position of the first bottom, relative to the image,
// then their variances.
Status PriorBox(Layer& n) {
  TERN_ASSIGN(const Dims layer, n.DimsOf(0));
  TERN_ASSIGN(const Dims image, n.DimsOf(1));
  if (layer.size() != 4 || image.size() != 4) return n.Bad("the bottoms must have 4 axes");
  TERN_ASSIGN(const PriorSizes sizes, PriorSizesOf(n, layer, image));
  const auto& p = n.proto.prior_box_param();
  const auto per_place = static_cast<int64_t>(sizes.boxes.size());
  if (layer[2] * layer[3] > kMaxPriors / per_place) return n.NotYet("more than ", kMaxPriors, " priors");
  const int64_t priors = layer[2] * layer[3] * per_place;
  Tensor prior(DType::kF32, {1, 2, priors * 4});
  float* out = prior.data<float>();
  for (int64_t h = 0; h < layer[2]; ++h)
    for (int64_t w = 0; w < layer[3]; ++w) {
      const float x = (static_cast<float>(w) + p.offset()) * sizes.step_x;
      const float y = (static_cast<float>(h) + p.offset()) * sizes.step_y;
      for (const auto& [width, height] : sizes.boxes) {
        *out++ = (x - width / 2) / sizes.image_width;
        *out++ = (y - height / 2) / sizes.image_height;
        *out++ = (x + width / 2) / sizes.image_width;
        *out++ = (y + height / 2) / sizes.image_height;
      }
    }
  if (p.clip())
    for (float* v = prior.data<float>(); v != out; ++v) *v = std::clamp(*v, 0.0F, 1.0F);
  TERN_TRY(FillVariances(n, out, priors));
  n.Out(0, Copied(n, n.b.Const(std::move(prior))));
  return {};
}

const char* CodeName(pb::PriorBoxParameter::CodeType code) {
  if (code == pb::PriorBoxParameter::CENTER_SIZE) return "center_size";
  return code == pb::PriorBoxParameter::CORNER_SIZE ? "corner_size" : "corner";
}

Status DetectionOutput(Layer& n) {
  const auto& p = n.proto.detection_output_param();
  if (p.num_classes() < 1) return n.Bad("num_classes is missing");
  if (!p.normalized_bbox()) return n.NotYet("normalized_bbox: false");
  const auto& nms = p.nms_param();
  const AttrList attrs = {
      {"classes", static_cast<int64_t>(p.num_classes())},
      {"background", p.background_label_id()},
      {"top_k", nms.has_top_k() ? nms.top_k() : -1},
      {"keep_top_k", p.keep_top_k()},
      {"iou_threshold", static_cast<double>(nms.nms_threshold())},
      {"score_threshold",
       p.has_confidence_threshold() ? static_cast<double>(p.confidence_threshold()) : -1e30},
      {"eta", static_cast<double>(nms.eta())},
      {"share_location", p.share_location()},
      {"variance_in_target", p.variance_encoded_in_target()},
      {"clip", p.clip()},
      {"code", CodeName(p.code_type())}};
  Value* loc = n.b.Op("Flatten", {n.In(0)});
  Value* conf = n.b.Op("Flatten", {n.In(1)});
  n.Out(0, n.b.Op("DetectionOutput", {loc, conf, n.In(2)}, attrs));
  return {};
}

}  // namespace

TERN_CONVERTERS(ssd) {
  table.Add("PriorBox", PriorBox, {2, 2, 1, 1});
  table.Add("DetectionOutput", DetectionOutput, {3, 4, 1, 1});
}

}  // namespace tern::caffe
