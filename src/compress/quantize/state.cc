// Stores and restores an unfinished calibration.
#include <cmath>

#include "compress/quantize/quantizer.h"
#include "ir/graph_hash.h"
#include "ir/tern_file.h"

namespace tern::compress {
namespace {

Tensor Array(const std::vector<double>& numbers) {
  return Tensor::Of(DType::kF64, {static_cast<int64_t>(numbers.size())}, numbers);
}

std::vector<double> NumbersOf(const Observation& o) {
  std::vector<double> numbers = {static_cast<double>(o.samples), o.statistics.average.low,
                                 o.statistics.average.high};
  const std::vector<double> histogram = o.statistics.histogram.Numbers();
  numbers.insert(numbers.end(), histogram.begin(), histogram.end());
  return numbers;
}

bool ParseObservation(const std::vector<double>& numbers, Observation& o) {
  if (numbers.size() < 3 || !(numbers[0] >= 0 && numbers[0] < 1e15)) return false;
  o.samples = static_cast<int64_t>(numbers[0]);
  o.statistics.average = {numbers[1], numbers[2]};
  return o.statistics.histogram.Parse({numbers.begin() + 3, numbers.end()});
}

}  // namespace

// Returns a hash of what the state depends on: the graph with its weights, whether the options need moments,
// and the names of the samples.
int64_t Quantizer::KeyOf(const Samples& samples) const {
  std::string text = StrCat(HashOf(*graph_), " ", options_.adaround || options_.correct_bias);
  for (size_t i = 0; i < samples.size(); ++i) text += StrCat("\n", samples.NameOf(i));
  return static_cast<int64_t>(Checksum(text.data(), text.size()));
}

Quantizer::State Quantizer::Save(const Samples& samples, size_t done) const {
  State state = {{"state", Tensor::Ints({KeyOf(samples), static_cast<int64_t>(done)})}};
  const std::vector<Observation>& all = observer_->observations();
  for (size_t i = 0; i < all.size(); ++i) state.emplace_back(StrCat("value_", i), Array(NumbersOf(all[i])));
  size_t i = 0;
  for (const auto& [name, operand] : operands_)
    state.emplace_back(StrCat("operand_", i++), Array(operand.moments.Numbers()));
  return state;
}

Result<size_t> Quantizer::Restore(const Samples& samples, const State& state) {
  std::map<std::string, Tensor> arrays(state.begin(), state.end());
  const auto numbers = [&](const std::string& name) {
    const Tensor& t = arrays[name];
    return t.defined() && t.dtype() == DType::kF64 ? ToDoubles(t) : std::vector<double>();
  };
  const Tensor& head = arrays["state"];
  if (!head.defined() || head.dtype() != DType::kI64 || head.size() != 2)
    return InvalidArgument("the stored state is not one of a calibration");
  if (LoadLong(head, 0) != KeyOf(samples))
    return InvalidArgument("the stored state belongs to another model, other options or other samples");
  bool complete = LoadLong(head, 1) >= 0 && LoadLong(head, 1) <= static_cast<int64_t>(samples.size());
  for (size_t i = 0; i < observer_->observations().size(); ++i)
    complete = complete && ParseObservation(numbers(StrCat("value_", i)), observer_->observations()[i]);
  size_t i = 0;
  for (auto& [name, operand] : operands_)
    complete = complete && operand.moments.Parse(numbers(StrCat("operand_", i++)));
  if (!complete) return InvalidArgument("the stored state is damaged");
  return static_cast<size_t>(LoadLong(head, 1));
}

}  // namespace tern::compress
