#include "runtime/exec/states.h"

#include <algorithm>
#include <cstring>

#include "ir/bind_symbols.h"

namespace tern {
namespace {

// Smallest upper bound of the lengths that a plan serves. kOdd makes the bound an unusual number, so that it
// does not equal another dim of the model by chance.
constexpr int64_t kLeastRange = 1024, kOdd = 7;

LinearDim PresentLength(const Plan& plan, int slot, int axis) {
  if (const Varying* varying = plan.varying())
    for (const Varying::Values& values : varying->dims)
      if (values.slot == slot) return values.dims[static_cast<size_t>(axis)];
  return {plan.slots()[static_cast<size_t>(slot)].tensor.dim(axis), 0};
}

}  // namespace

States::States(const Graph& graph)
    : graph_(graph), is_input_(graph.inputs().size()), is_output_(graph.outputs().size()) {
  for (const GraphState& state : graph.states()) {
    const auto& inputs = graph.inputs();
    inputs_.push_back(
        static_cast<int>(std::find(inputs.begin(), inputs.end(), state.input) - inputs.begin()));
    is_input_[static_cast<size_t>(inputs_.back())] = true;
    is_output_[static_cast<size_t>(state.output)] = true;
  }
}

// A symbol that occurs in no other input is 1, such as the batch of a model whose inputs are all states.
Status States::MakeMemory(const DatumList& inputs) {
  SymbolValues symbols;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!is_input_[i] && inputs[i].is_tensor() && inputs[i].tensor.defined())
      BindSymbols(graph_.inputs()[i]->type, inputs[i].tensor.dims(), symbols);
  for (const GraphState& state : graph_.states()) {
    const Type& type = state.input->type;
    if (!type.tensor() || !type.shape.ranked)
      return Unsupported("state '", state.input->name, "' is ", type.ToString(),
                         ", not a tensor of known rank");
    Dims dims;
    for (int i = 0; i < type.shape.rank(); ++i)
      dims.push_back(i == state.axis ? 0 : type.shape[i].Evaluate(symbols).value_or(1));
    memory_.emplace_back(type.dtype, dims, state.axis);
  }
  for (const auto& [state, value] : pending_) TERN_TRY(memory_[static_cast<size_t>(state)].Set(value));
  pending_.clear();
  return {};
}

Status States::Feed(DatumList& inputs) {
  if (memory_.empty()) TERN_TRY(MakeMemory(inputs));
  length_ = -1;
  for (size_t s = 0; s < memory_.size(); ++s) {
    const StateMemory& memory = memory_[s];
    if (memory.axis() >= 0 && length_ >= 0 && memory.length() != length_)
      return Unsupported("state '", graph_.states()[s].input->name, "' has length ", memory.length(),
                         ", the states before it have ", length_, ": all states must have the same length");
    if (memory.axis() >= 0) length_ = memory.length();
    Tensor& t = inputs[static_cast<size_t>(inputs_[s])].tensor;
    if (!t.defined()) {
      inputs[static_cast<size_t>(inputs_[s])] = Datum(memory.past());
      continue;
    }
    if (memory.axis() >= 0) t.SetDim(memory.axis(), memory.length());
    t.SetBuffer(memory.past().buffer());
  }
  length_ = std::max<int64_t>(length_, 0);
  return {};
}

const LengthRange* States::RangeFor(const DatumList& inputs) {
  if (!has_last_ || last_length_ == 0 || length_ <= last_length_ || last_dims_.size() != inputs.size())
    return nullptr;
  const int64_t grown = length_ - last_length_;
  range_.inputs.assign(inputs.size(), {});
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].is_tensor()) continue;
    const Dims &now = inputs[i].tensor.dims(), &before = last_dims_[i];
    if (now.size() != before.size()) return nullptr;
    for (size_t k = 0; k < now.size(); ++k) {
      if ((now[k] - before[k]) % grown) return nullptr;
      const int64_t slope = (now[k] - before[k]) / grown;
      range_.inputs[i].push_back({now[k] - slope * length_, slope});
    }
  }
  int64_t bound = kLeastRange;
  while (bound <= length_) bound *= 2;
  range_.max_length = 2 * bound + kOdd;
  return &range_;
}

Status States::Reserve(Execution& execution) {
  if (planned_ != &execution) {
    planned_ = &execution;
    presents_.clear();
    for (size_t s = 0; s < memory_.size(); ++s)
      presents_.push_back(
          memory_[s].axis() < 0
              ? LinearDim()
              : PresentLength(execution.plan(), execution.plan().states()[s].present, memory_[s].axis()));
  }
  for (size_t s = 0; s < memory_.size(); ++s)
    memory_[s].Reserve(presents_[s].At(length_), execution.plan().states()[s].in_place);
  return {};
}

Status States::Begin(Execution& execution) {
  TERN_TRY(Reserve(execution));
  int64_t capacity = 0;
  for (size_t s = 0; s < memory_.size(); ++s)
    if (execution.plan().states()[s].in_place) capacity = memory_[s].capacity();
  TERN_TRY(execution.SetLength(length_, capacity));
  for (size_t s = 0; s < memory_.size(); ++s)
    if (execution.plan().states()[s].external) execution.BindState(static_cast<int>(s), memory_[s].present());
  return {};
}

void States::End(Execution& execution, const DatumList& inputs) {
  for (size_t s = 0; s < memory_.size(); ++s) {
    const PlanState& state = execution.plan().states()[s];
    const Tensor& present = execution.slots()[static_cast<size_t>(state.present)].tensor;
    if (!state.external && present.bytes())  // no step writes it, for example an input that is also an output
      std::memcpy(memory_[s].present().data(), present.Contiguous().raw(), present.bytes());
    memory_[s].Advance(presents_[s].At(length_));
  }
  last_dims_.resize(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].is_tensor()) last_dims_[i] = inputs[i].tensor.dims();
  last_length_ = length_;
  has_last_ = true;
}

void States::Reset() {
  for (StateMemory& memory : memory_) memory.Reset();
  pending_.clear();
  length_ = 0;
  has_last_ = false;
}

int States::Find(const std::string& input) const {
  for (size_t s = 0; s < graph_.states().size(); ++s)
    if (graph_.states()[s].input->name == input) return static_cast<int>(s);
  return -1;
}

Status States::Set(const std::string& input, const Tensor& value) {
  const int state = Find(input);
  if (state < 0) return NotFound("the model has no state '", input, "'");
  has_last_ = false;
  if (!memory_.empty()) return memory_[static_cast<size_t>(state)].Set(value);
  pending_.emplace_back(state, value);
  return {};
}

Result<Tensor> States::Get(const std::string& input) const {
  const int state = Find(input);
  if (state < 0) return NotFound("the model has no state '", input, "'");
  if (memory_.empty()) return NotFound("state '", input, "' has no value before the first run");
  return memory_[static_cast<size_t>(state)].Value();
}

}  // namespace tern
