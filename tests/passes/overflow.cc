#include "overflow.h"

#include <cmath>
#include <limits>

namespace tern {
namespace {

Datum Magnitudes(const Datum& d) {
  if (!d.is_tensor() || !IsFloat(d.tensor.dtype())) return d;
  Datum copy = d;
  copy.tensor = Tensor(d.tensor.dtype(), d.tensor.dims());
  for (int64_t i = 0; i < d.tensor.size(); ++i)
    StoreDouble(copy.tensor, i, std::abs(LoadDouble(d.tensor, i)));
  return copy;
}

}  // namespace

void OverflowMarker::Observe(const Node& node, const DatumList& outputs) {
  const bool adds = node.op->macs && !outputs.empty() && outputs[0].is_tensor();
  if (adds && (outputs[0].tensor.dtype() == DType::kF32 || outputs[0].tensor.dtype() == DType::kBF16))
    Mark(node, outputs[0].tensor);
  values_.Add(node, outputs);
}

// Runs the node on the magnitudes of its inputs. The results are the sums of the magnitudes of the terms,
// rounded to f32 or bf16, which have the same range.
void OverflowMarker::Mark(const Node& node, const Tensor& output) {
  auto inputs = values_.InputsOf(node);
  if (!inputs) return;
  for (Datum& d : *inputs) d = Magnitudes(d);
  const auto sums = EvaluateOn(node, *inputs);
  if (!sums.ok() || (*sums)[0].tensor.dims() != output.dims()) return;
  Tensor view = output;
  for (int64_t i = 0; i < output.size(); ++i) {
    if (!std::isfinite(LoadDouble(output, i)) || std::isfinite(LoadDouble((*sums)[0].tensor, i))) continue;
    StoreDouble(view, i, std::numeric_limits<double>::quiet_NaN());
    marked_ = true;
  }
}

}  // namespace tern
