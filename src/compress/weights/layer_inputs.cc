#include "compress/weights/layer_inputs.h"

#include <algorithm>
#include <cmath>

namespace tern::compress {
namespace {

bool Finite(const Tensor& t) {
  const float* p = t.data<const float>();
  return std::all_of(p, p + t.size(), [](float v) { return std::isfinite(v); });
}

}  // namespace

Result<MomentsByValue> SecondMoments(const Graph& graph, const std::vector<const Value*>& values,
                                     Samples& samples, int threads, const ShowProgress& show) {
  std::vector<const Value*> distinct;
  for (const Value* v : values)
    if (std::find(distinct.begin(), distinct.end(), v) == distinct.end()) distinct.push_back(v);
  if (samples.size() == 0) return InvalidArgument("there are no calibration samples");
  TERN_ASSIGN(const auto observer, Observer::Make(graph, distinct, threads));
  const Workers workers(threads);
  MomentsByValue moments;
  for (size_t i = 0; i < samples.size(); ++i) {
    const std::string name = samples.NameOf(i);
    TERN_ASSIGN(const DatumList inputs, samples.Get(i));
    TERN_ASSIGN(const DatumList outputs, observer->Run(inputs, name));
    for (size_t v = 0; v < distinct.size(); ++v) {
      const Tensor rows = outputs[v].tensor.Contiguous();
      if (rows.dtype() != DType::kF32 || !Finite(rows))
        return InvalidArgument("sample '", name, "': '", distinct[v]->name, "' is not f32, or not finite");
      Hessian& h = moments[distinct[v]];
      if (!h.inputs) h = Hessian(rows.dims().back());
      h.Add(rows.data<const float>(), rows.size() / std::max<int64_t>(1, h.inputs), workers);
    }
    if (show) show(static_cast<double>(i + 1) / static_cast<double>(samples.size()));
  }
  return moments;
}

}  // namespace tern::compress
