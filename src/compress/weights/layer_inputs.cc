#include "compress/weights/layer_inputs.h"

#include <algorithm>
#include <cmath>

#include "runtime/exec/session.h"

namespace tern::compress {
namespace {

// Returns the values of a clone of `graph` that correspond to `values`. Nodes of a clone have the same order.
Result<std::vector<Value*>> TwinsIn(const Graph& graph, const Graph& copy,
                                    const std::vector<const Value*>& values) {
  std::map<const Value*, Value*> twins;
  for (size_t i = 0; i < graph.inputs().size(); ++i) twins[graph.inputs()[i]] = copy.inputs()[i];
  auto there = copy.nodes().begin();
  for (const auto& node : graph.nodes()) {
    for (size_t i = 0; i < node->outputs().size(); ++i) twins[node->outputs()[i]] = (*there)->outputs()[i];
    ++there;
  }
  std::vector<Value*> found;
  for (const Value* v : values) {
    const auto it = twins.find(v);
    if (it == twins.end()) return Unsupported("'", v->name, "' is not computed by the top-level graph");
    found.push_back(it->second);
  }
  return found;
}

bool Finite(const Tensor& t) {
  const float* p = t.data<const float>();
  return std::all_of(p, p + t.size(), [](float v) { return std::isfinite(v); });
}

}  // namespace

Result<MomentsByValue> SecondMoments(const Graph& graph, const std::vector<const Value*>& values,
                                     const CalibrationData& data, int threads) {
  std::vector<const Value*> distinct;
  for (const Value* v : values)
    if (std::find(distinct.begin(), distinct.end(), v) == distinct.end()) distinct.push_back(v);
  std::unique_ptr<Graph> copy = graph.Clone();
  TERN_ASSIGN(const std::vector<Value*> twins, TwinsIn(graph, *copy, distinct));
  copy->ClearStates();
  copy->SetOutputs(twins);
  SessionOptions options;
  options.threads = threads;
  TERN_ASSIGN(const auto session, Session::Create(std::move(copy), options));
  const Workers workers(threads);
  MomentsByValue moments;
  for (size_t i = 0; i < data.count; ++i) {
    TERN_ASSIGN(const DatumList inputs, data.get(i));
    auto outputs = session->Run(inputs);
    if (!outputs.ok()) return outputs.TakeStatus().While(StrCat("calibration sample ", i));
    for (size_t v = 0; v < distinct.size(); ++v) {
      const Tensor rows = (*outputs)[v].tensor.Contiguous();
      if (rows.dtype() != DType::kF32 || !Finite(rows))
        return InvalidArgument("calibration sample ", i, ": '", distinct[v]->name,
                               "' is not f32, or not finite");
      Hessian& h = moments[distinct[v]];
      if (!h.inputs) h = Hessian(rows.dims().back());
      h.Add(rows.data<const float>(), rows.size() / std::max<int64_t>(1, h.inputs), workers);
    }
  }
  return moments;
}

}  // namespace tern::compress
