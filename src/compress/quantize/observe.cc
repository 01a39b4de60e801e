#include "compress/quantize/observe.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "base/thread_pool.h"
#include "passes/rewrite/facts.h"

namespace tern::compress {
namespace {

constexpr double kKeep = 0.9;  // weight of earlier samples in moving averages

Status CheckFinite(const Tensor& t, const std::string& input, const std::string& sample) {
  if (t.dtype() != DType::kF32) return {};
  const Tensor values = t.Contiguous();
  for (int64_t i = 0; i < values.size(); ++i)
    if (!std::isfinite(values.data<float>()[i]))
      return InvalidArgument("calibration sample '", sample, "': element ", i, " of input '", input, "' is ",
                             std::isnan(values.data<float>()[i]) ? "NaN" : "infinite");
  return {};
}

// Returns axis 1 if a Conv reads v, or if v has rank 4 or more and no MatMul makes it. Otherwise returns -1,
// the last axis.
int ChannelAxis(const Value& v) {
  for (const auto& [reader, index] : v.uses)
    if (IsOp(*reader, "Conv")) return 1;
  return MadeBy(&v, "MatMul") || v.type.shape.rank() < 4 ? -1 : 1;
}

}  // namespace

void Channels::Add(const Tensor& value) {
  if (value.rank() < 2 || value.size() == 0) return;
  const int at = axis < 0 ? value.rank() - 1 : axis;
  const int64_t channels = value.dim(at);
  int64_t inner = 1;
  for (int i = at + 1; i < value.rank(); ++i) inner *= value.dim(i);
  const int64_t outer = value.size() / (channels * inner);
  const auto n = static_cast<size_t>(channels);
  if (sum.empty()) sum.assign(n, 0), low.assign(n, INFINITY), high.assign(n, -INFINITY);
  if (sum.size() != n) return;
  for (int64_t o = 0; o < outer; ++o)
    for (size_t c = 0; c < n; ++c) {
      const float* from = value.data<float>() + (o * channels + static_cast<int64_t>(c)) * inner;
      double total = 0;
      for (int64_t i = 0; i < inner; ++i) {
        total += from[i];
        low[c] = std::min(low[c], from[i]);
        high[c] = std::max(high[c], from[i]);
      }
      sum[c] += total;
    }
  count += outer * inner;
}

void Observation::Add(const Tensor& value) {
  TERN_CHECK(value.dtype() == DType::kF32);
  const Tensor values = value.Contiguous();
  Histogram one;
  one.Add(values.data<float>(), values.size());
  channels.Add(values);
  const Range r = one.range();
  Range& mean = statistics.average;
  if (one.count())
    mean =
        samples ? Range{kKeep * mean.low + (1 - kKeep) * r.low, kKeep * mean.high + (1 - kKeep) * r.high} : r;
  statistics.histogram.Merge(one);
  ++samples;
}

std::vector<Value*> TwinsOf(const Graph& graph, const Graph& copy, const std::vector<const Value*>& values) {
  std::unordered_map<const Value*, Value*> twins;
  for (size_t i = 0; i < graph.inputs().size(); ++i) twins[graph.inputs()[i]] = copy.inputs()[i];
  auto twin = copy.nodes().begin();
  for (const auto& node : graph.nodes()) {
    for (size_t i = 0; i < node->outputs().size(); ++i) twins[node->outputs()[i]] = (*twin)->outputs()[i];
    ++twin;
  }
  std::vector<Value*> found;
  for (const Value* v : values) found.push_back(twins.at(v));
  return found;
}

Result<std::unique_ptr<Observer>> Observer::Make(const Graph& graph, std::vector<const Value*> values,
                                                 int threads) {
  std::unique_ptr<Observer> made(new Observer());
  made->graph_ = &graph;
  made->threads_ = threads;
  made->observations_.resize(values.size());
  std::unique_ptr<Graph> copy = graph.Clone();
  const std::vector<Value*> twins = TwinsOf(graph, *copy, values);
  std::vector<Value*> outputs;
  for (Value* v : twins) {
    const auto at = std::find(copy->inputs().begin(), copy->inputs().end(), v);
    made->input_.push_back(v->is_input ? static_cast<int>(at - copy->inputs().begin()) : -1);
    made->output_.push_back(v->is_input ? -1 : static_cast<int>(outputs.size()));
    if (!v->is_input) outputs.push_back(v);
  }
  for (size_t i = 0; i < values.size(); ++i) made->observations_[i].channels.axis = ChannelAxis(*values[i]);
  made->values_ = std::move(values);
  if (outputs.empty()) return made;
  copy->ClearStates();
  copy->SetOutputs(outputs);
  copy->RemoveDeadNodes();
  SessionOptions options{.threads = threads, .level = Level::kLayout};
  TERN_ASSIGN(made->session_, Session::Create(std::move(copy), options));
  return made;
}

Result<DatumList> Observer::Run(const DatumList& inputs, const std::string& name) {
  for (size_t i = 0; i < inputs.size() && i < graph_->inputs().size(); ++i)
    if (inputs[i].is_tensor()) TERN_TRY(CheckFinite(inputs[i].tensor, graph_->inputs()[i]->name, name));
  DatumList results;
  if (session_) {
    auto run = session_->Run(inputs);
    if (!run.ok())
      return run.TakeStatus().While(StrCat("running the model on calibration sample '", name, "'"));
    results = std::move(*run);
  }
  DatumList values;
  for (size_t i = 0; i < values_.size(); ++i)
    values.push_back(output_[i] < 0 ? inputs[static_cast<size_t>(input_[i])]
                                    : results[static_cast<size_t>(output_[i])]);
  return values;
}

void Observer::Add(const DatumList& values) {
  Workers(threads_).ParallelFor(static_cast<int64_t>(values.size()), 1, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i)
      observations_[i].Add(values[i].tensor);
  });
}

}  // namespace tern::compress
