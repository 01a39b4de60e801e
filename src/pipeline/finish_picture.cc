// Makes boxes and segmentations.
#include <algorithm>

#include "data/post/detect.h"
#include "data/post/segment.h"
#include "pipeline/maker.h"

namespace tern::pipeline {
namespace {

class BoxesMaker final : public Maker {
 public:
  BoxesMaker(const Binding& binding, const BoundOutput& output, const data::DetectOptions& options)
      : Maker(binding, output), step_(*output.spec.Find<BoxesStep>()), options_(options) {}

 private:
  Status Fill(const Tensor& tensor, const ItemOutputs& outputs, const ItemInfo& info,
              ItemResult& out) const override {
    out.kind = ItemResult::Kind::kBoxes;
    const Tensor* scores = output_.result_scores.empty() ? nullptr : outputs.Find(output_.result_scores);
    TERN_ASSIGN(const auto found, scores
                                      ? data::DetectSsd(tensor, *scores, options_)
                                      : data::DetectYolo(tensor, step_.objectness, std::nullopt, options_));
    if (found.empty()) return {};
    for (const data::Box& b : data::MapToPicture(found[0], info.placement, step_.unit == "relative"))
      out.boxes.push_back({b.x0, b.y0, b.x1, b.y1, b.score, b.label, LabelOf(b.label)});
    return {};
  }

  const BoxesStep step_;
  const data::DetectOptions options_;
};

// The class of each pixel of the original picture, and the share of the pixels of each class.
class SegmentationMaker final : public Maker {
 public:
  using Maker::Maker;

 private:
  Status Fill(const Tensor& tensor, const ItemOutputs&, const ItemInfo& info,
              ItemResult& out) const override {
    out.kind = ItemResult::Kind::kSegmentation;
    TERN_ASSIGN(const data::ClassMap small, data::SegmentationMap(tensor));
    TERN_ASSIGN(const data::ClassMap map, data::MapToPicture(small, info.placement));
    out.tensor = Tensor(DType::kI32, {map.height, map.width});
    std::copy(map.labels.begin(), map.labels.end(), out.tensor.data<int32_t>());
    std::map<int32_t, int64_t> counts;
    for (const int32_t label : map.labels) ++counts[label];
    for (const auto& [label, count] : counts)
      out.labels.push_back(Named(label, static_cast<double>(count) / static_cast<double>(map.labels.size())));
    std::stable_sort(out.labels.begin(), out.labels.end(),
                     [](const Label& a, const Label& b) { return a.score > b.score; });
    return {};
  }
};

bool HasPicture(const Binding& binding) {
  return std::any_of(binding.inputs.begin(), binding.inputs.end(),
                     [](const BoundInput& input) { return input.kind == BoundInput::Kind::kImage; });
}

Status NeedsPicture(const Binding& binding, const BoundOutput& output, const char* step) {
  if (HasPicture(binding)) return {};
  return InvalidArgument(PlaceOf(binding.spec, output.spec.line), "step '", step,
                         "' needs an input with pictures");
}

}  // namespace

Result<std::shared_ptr<const OutputMaker>> MakeBoxes(const Binding& binding, const BoundOutput& output) {
  TERN_TRY(NeedsPicture(binding, output, "boxes"));
  const BoxesStep& step = *output.spec.Find<BoxesStep>();
  data::DetectOptions options;
  options.least_score = static_cast<float>(step.score);
  options.iou_threshold = static_cast<float>(step.iou);
  options.limit = step.most;
  TERN_ASSIGN(options.format, data::BoxFormatFromName(step.format));
  if (step.background >= 0) options.background = step.background;
  return std::shared_ptr<const OutputMaker>(std::make_shared<BoxesMaker>(binding, output, options));
}

Result<std::shared_ptr<const OutputMaker>> MakeSegmentation(const Binding& binding,
                                                            const BoundOutput& output) {
  TERN_TRY(NeedsPicture(binding, output, "segmentation"));
  return std::shared_ptr<const OutputMaker>(std::make_shared<SegmentationMaker>(binding, output));
}

}  // namespace tern::pipeline
