// Labels of ai.onnx.ml ops: the classes of a classifier, or the keys of a map.
#pragma once
#include "ir/eval_context.h"
#include "ir/infer_context.h"

namespace tern {

// One label per class or key. Either all labels are integers, or all are strings.
struct Labels {
  std::vector<int64_t> ints;
  std::vector<std::string> texts;
  template <class V> void Visit(V& v) {
    v("label_ints", ints, "the labels if they are integers");
    v("label_texts", texts, "the labels if they are strings");
  }
  bool text() const { return !texts.empty(); }
  int64_t count() const { return static_cast<int64_t>(text() ? texts.size() : ints.size()); }
  DType type() const { return text() ? DType::kString : DType::kI64; }
};

inline Status CheckLabels(const Labels& labels) {
  if (!labels.ints.empty() && !labels.texts.empty())
    return InvalidModel("labels are given both as integers and as strings");
  if (labels.count() == 0) return InvalidModel("there are no class labels");
  return {};
}

// Writes the label of class classes[i] to out[i].
inline void WriteLabels(const Labels& labels, const std::vector<int64_t>& classes, Tensor& out) {
  for (size_t i = 0; i < classes.size(); ++i) {
    const auto at = static_cast<size_t>(classes[i]);
    if (labels.text())
      out.data<std::string>()[i] = labels.texts[at];
    else
      out.data<int64_t>()[i] = labels.ints[at];
  }
}

}  // namespace tern
