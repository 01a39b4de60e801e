// Runs a model on calibration data and collects statistics of its values.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "compress/quantize/method.h"
#include "compress/quantize/samples.h"
#include "ir/graph.h"
#include "runtime/exec/session.h"

namespace tern::compress {

// Sums and bounds of the channels of a value.
struct Channels {
  int axis = -1;  // the axis that has the channels; -1 is the last one
  std::vector<double> sum;
  std::vector<float> low, high;
  int64_t count = 0;  // values per channel

  void Add(const Tensor& value);
  double Mean(size_t channel) const { return count ? sum[channel] / static_cast<double>(count) : 0; }
};

struct Observation {
  Statistics statistics;
  Channels channels;
  int64_t samples = 0;

  // Adds the values of one sample, which are f32.
  void Add(const Tensor& value);
};

// Called after each sample with the fraction of samples that are done.
using ShowProgress = std::function<void(double share)>;

class Observer {
 public:
  // Compiles a copy of the graph whose outputs are `values`. All `values` must be values of this graph, not
  // of nested graphs.
  static Result<std::unique_ptr<Observer>> Make(const Graph& graph, std::vector<const Value*> values,
                                                int threads);

  // Runs the model. Returns one datum per value. Fails if an input is not finite. `name` is the name of the
  // sample, for messages.
  Result<DatumList> Run(const DatumList& inputs, const std::string& name);
  // Adds the results of a run to observations().
  void Add(const DatumList& values);

  const std::vector<const Value*>& values() const { return values_; }
  const std::vector<Observation>& observations() const { return observations_; }
  std::vector<Observation>& observations() { return observations_; }

 private:
  Observer() = default;
  const Graph* graph_ = nullptr;
  std::vector<const Value*> values_;
  std::vector<int> output_,
      input_;  // by value: index among the session's outputs, and among the graph's inputs; or -1
  std::unique_ptr<Session> session_;  // null if all values are inputs
  std::vector<Observation> observations_;
  int threads_ = 0;
};

// Returns the values of `copy` that correspond to those of `graph`, of which it is a clone.
std::vector<Value*> TwinsOf(const Graph& graph, const Graph& copy, const std::vector<const Value*>& values);

}  // namespace tern::compress
