#include "pipeline/maker.h"

#include <algorithm>

#include "data/post/topk.h"

namespace tern::pipeline {
namespace {

// Returns the tensor itself. A batch dim of size 1 is removed, unless it counts the frames of a sound.
class TensorMaker final : public Maker {
 public:
  TensorMaker(const Binding& binding, const BoundOutput& output)
      : Maker(binding, output), frames_(binding.frames) {}
  Status Fill(const Tensor& tensor, const ItemOutputs&, const ItemInfo&, ItemResult& out) const override {
    Dims dims = tensor.dims();
    if (!frames_ && !dims.empty() && dims[0] == 1) dims.erase(dims.begin());
    out.tensor = tensor.Contiguous().Reshaped(std::move(dims));
    return {};
  }

 private:
  const bool frames_;
};

class TopKMaker final : public Maker {
 public:
  TopKMaker(const Binding& binding, const BoundOutput& output, int k) : Maker(binding, output), k_(k) {}
  Status Fill(const Tensor& tensor, const ItemOutputs&, const ItemInfo&, ItemResult& out) const override {
    out.kind = ItemResult::Kind::kLabels;
    TERN_ASSIGN(const auto rows, data::TopK(tensor, std::min<int64_t>(k_, tensor.size())));
    if (rows.empty()) return InvalidArgument("the model's output '", output_.tensor, "' is empty");
    for (const data::Ranked& best : rows[0]) out.labels.push_back(Named(best.index, best.score));
    return {};
  }

 private:
  const int k_;
};

// Returns the classes whose score is at least `score_`. For a sound in frames, returns the spans of frames
// whose score is at least `score_`.
class ThresholdMaker final : public Maker {
 public:
  ThresholdMaker(const Binding& binding, const BoundOutput& output, double score)
      : Maker(binding, output), frames_(binding.frames), score_(score) {}

  Status Fill(const Tensor& tensor, const ItemOutputs&, const ItemInfo& info,
              ItemResult& out) const override {
    const Tensor t = tensor.Contiguous();
    if (frames_) return FillSpans(t, info, out);
    out.kind = ItemResult::Kind::kLabels;
    out.open = true;
    for (int64_t i = 0; i < t.size(); ++i)
      if (const double score = LoadDouble(t, i); score >= score_) out.labels.push_back(Named(i, score));
    std::stable_sort(out.labels.begin(), out.labels.end(),
                     [](const Label& a, const Label& b) { return a.score > b.score; });
    return {};
  }

 private:
  Status FillSpans(const Tensor& t, const ItemInfo& info, ItemResult& out) const {
    out.kind = ItemResult::Kind::kSpans;
    const int64_t frames = t.rank() ? t.dim(0) : 1;
    if (t.size() != frames)
      return InvalidArgument("threshold needs one score per frame, but output '", output_.tensor, "' is ",
                             t.Describe(), " for ", frames, " frames");
    out.tensor = t.Reshaped({frames});
    double sum = 0;
    int64_t first = -1;
    for (int64_t i = 0; i <= frames; ++i) {
      const double score = i < frames ? LoadDouble(t, i) : 0;
      const bool on = i < frames && score >= score_;
      if (on && first < 0) first = i;
      if (on) sum += score;
      if (on || first < 0) continue;
      out.spans.push_back({static_cast<double>(first) * info.seconds_per_frame,
                           std::min(static_cast<double>(i) * info.seconds_per_frame, info.seconds),
                           sum / static_cast<double>(i - first)});
      first = -1;
      sum = 0;
    }
    return {};
  }

  const bool frames_;
  const double score_;
};

}  // namespace

const Tensor* ItemOutputs::Find(const std::string& name) const {
  for (const auto& [own, tensor] : tensors)
    if (own == name) return &tensor;
  return nullptr;
}

Result<std::shared_ptr<const OutputMaker>> MakeOutput(const Binding& binding, const BoundOutput& output) {
  using Made = std::shared_ptr<const OutputMaker>;
  if (output.spec.Find<TopKStep>() && binding.frames)
    return InvalidArgument(
        PlaceOf(binding.spec, output.spec.line),
        "step 'top_k' gives one answer, but a sound in frames has one per frame; use 'threshold'");
  if (const auto* top = output.spec.Find<TopKStep>())
    return Made(std::make_shared<TopKMaker>(binding, output, top->k));
  if (const auto* threshold = output.spec.Find<ThresholdStep>())
    return Made(std::make_shared<ThresholdMaker>(binding, output, threshold->score));
  if (output.spec.Find<BoxesStep>()) return MakeBoxes(binding, output);
  if (output.spec.Find<SegmentationStep>()) return MakeSegmentation(binding, output);
  if (output.spec.Find<CtcStep>()) return MakeCtc(binding, output);
  if (output.spec.Find<DecodeTextStep>()) return MakeDecodedText(binding, output);
  return Made(std::make_shared<TensorMaker>(binding, output));
}

}  // namespace tern::pipeline
