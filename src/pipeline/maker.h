// The base of all classes that make results.
#pragma once
#include "pipeline/finish.h"

namespace tern::pipeline {

// Finds the tensor and names the result.
class Maker : public OutputMaker {
 public:
  Maker(const Binding& binding, const BoundOutput& output) : output_(output), labels_(binding.labels) {}

  Result<ItemResult> Make(const ItemOutputs& outputs, const ItemInfo& info) const final {
    const Tensor* tensor = outputs.Find(output_.result);
    if (!tensor) return Status(Code::kInternal, StrCat("the model gave no output '", output_.result, "'"));
    ItemResult out;
    out.name = output_.spec.name;
    TERN_TRY(Fill(*tensor, outputs, info, out));
    return out;
  }

 protected:
  virtual Status Fill(const Tensor& tensor, const ItemOutputs& outputs, const ItemInfo& info,
                      ItemResult& out) const = 0;
  std::string LabelOf(int64_t index) const {
    return index >= 0 && index < static_cast<int64_t>(labels_.size()) ? labels_[static_cast<size_t>(index)]
                                                                      : "";
  }
  Label Named(int64_t index, double score) const { return {index, score, LabelOf(index)}; }

  const BoundOutput output_;
  const std::vector<std::string> labels_;
};

Result<std::shared_ptr<const OutputMaker>> MakeBoxes(const Binding& binding, const BoundOutput& output);
Result<std::shared_ptr<const OutputMaker>> MakeSegmentation(const Binding& binding,
                                                            const BoundOutput& output);
Result<std::shared_ptr<const OutputMaker>> MakeCtc(const Binding& binding, const BoundOutput& output);
Result<std::shared_ptr<const OutputMaker>> MakeDecodedText(const Binding& binding, const BoundOutput& output);

}  // namespace tern::pipeline
