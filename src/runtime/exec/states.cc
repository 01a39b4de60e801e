#include "runtime/exec/states.h"

#include <algorithm>
#include <cstring>

#include "ir/bind_symbols.h"
#include "runtime/exec/runner.h"

namespace tern {
namespace {

// A plan for a range of lengths serves at least 2 * kLeastRange + kOdd = 2055 positions. kOdd makes this
// number unusual, so that it does not equal another dim of the model by chance.
constexpr int64_t kLeastRange = 1024, kOdd = 7;

// Returns the dims of a slot as functions of the length, or nullopt if they are known only during the run.
std::optional<LinearDims> DimsOf(const Plan& plan, int slot) {
  if (const Varying* varying = plan.varying())
    for (const Varying::Values& values : varying->dims)
      if (values.slot == slot) return values.dims;
  const Datum& d = plan.slots()[static_cast<size_t>(slot)];
  if (!d.is_tensor()) return std::nullopt;
  LinearDims dims;
  for (int64_t dim : d.tensor.dims()) dims.push_back({dim, 0});
  return dims;
}

Dims At(const LinearDims& dims, int64_t length) {
  Dims out;
  for (const LinearDim& dim : dims) out.push_back(dim.At(length));
  return out;
}

// Returns whether the dims are equal, except for one axis.
bool SameBut(int axis, Dims a, const Dims& b) {
  if (a.size() != b.size() || axis >= static_cast<int>(a.size())) return false;
  a[static_cast<size_t>(axis)] = b[static_cast<size_t>(axis)];
  return a == b;
}

}  // namespace

States::States(const Program& program)
    : graph_(*program.graph),
      states_(program.states),
      is_input_(graph_.inputs().size()),
      is_output_(graph_.outputs().size()),
      pending_(states_.size()) {
  for (const GraphState& state : states_) {
    const auto& inputs = graph_.inputs();
    inputs_.push_back(
        static_cast<int>(std::find(inputs.begin(), inputs.end(), state.input) - inputs.begin()));
    is_input_[static_cast<size_t>(inputs_.back())] = true;
    is_output_[static_cast<size_t>(state.output)] = true;
  }
}

// Returns the dims of a state before the first run. A symbol gets its value from other inputs or from values
// of Set. If neither contains the symbol, it is 1. An example is the batch of a model whose inputs are all
// states.
Result<Dims> States::FirstDims(size_t s, const SymbolValues& symbols) const {
  const Type type =
      pending_[s].defined() && !Past(s).type.shape.ranked ? TypeOf(Datum(pending_[s])) : Past(s).type;
  if (!type.tensor() || !type.shape.ranked || BitWidth(type.dtype) < 8)
    return Unsupported("state '", Past(s).name, "' is ", type.ToString(),
                       ", not a tensor of known rank with elements of whole bytes");
  Dims dims;
  for (int i = 0; i < type.shape.rank(); ++i)
    dims.push_back(i == states_[s].axis ? 0
                                        : type.shape[i].Evaluate(symbols).value_or(
                                              pending_[s].defined() ? pending_[s].dim(i) : 1));
  return dims;
}

Status States::MakeMemory(DatumList& inputs) {
  SymbolValues symbols;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!is_input_[i] && inputs[i].is_tensor() && inputs[i].tensor.defined())
      BindSymbols(graph_.inputs()[i]->type, inputs[i].tensor.dims(), symbols);
  for (size_t s = 0; s < pending_.size(); ++s)
    if (pending_[s].defined()) BindSymbols(Past(s).type, pending_[s].dims(), symbols);
  std::vector<StateMemory> before = std::move(memory_), made;
  memory_.clear();
  for (size_t s = 0; s < pending_.size(); ++s) {
    TERN_ASSIGN(Dims dims, FirstDims(s, symbols));
    if (s < before.size() && before[s].past().dims() == dims)
      made.push_back(std::move(before[s]));
    else
      made.emplace_back(pending_[s].defined() ? pending_[s].dtype() : Past(s).type.dtype, dims,
                        states_[s].axis);
    const Status set = pending_[s].defined() ? made[s].Set(pending_[s]) : Status();
    if (!set.ok()) return InvalidArgument("state '", Past(s).name, "': ", set.message());
  }
  memory_ = std::move(made);
  for (size_t s = 0; s < memory_.size(); ++s)
    inputs[static_cast<size_t>(inputs_[s])] = Datum(memory_[s].past());
  return {};
}

void States::PointToPasts(DatumList& inputs) const {
  for (size_t s = 0; s < memory_.size(); ++s) {
    const StateMemory& memory = memory_[s];
    Tensor& t = inputs[static_cast<size_t>(inputs_[s])].tensor;
    if (memory.axis() >= 0) t.SetDim(memory.axis(), memory.length());
    t.SetBuffer(memory.past().buffer());
  }
}

Status States::Feed(DatumList& inputs) {
  if (!begun_) TERN_TRY(MakeMemory(inputs));
  for (size_t s = 0; s < memory_.size() && resized_; ++s)
    inputs[static_cast<size_t>(inputs_[s])] = Datum(memory_[s].past());
  resized_ = false;
  length_ = -1;
  for (size_t s = 0; s < memory_.size(); ++s) {
    const StateMemory& memory = memory_[s];
    if (memory.axis() >= 0 && length_ >= 0 && memory.length() != length_)
      return InvalidArgument("state '", Past(s).name, "' has length ", memory.length(),
                             ", the states before it have ", length_,
                             ": all states must have the same length");
    if (memory.axis() >= 0) length_ = memory.length();
  }
  length_ = std::max<int64_t>(length_, 0);
  PointToPasts(inputs);
  return {};
}

int64_t States::current_length() const {
  for (size_t s = 0; s < pending_.size(); ++s) {
    const int axis = states_[s].axis;
    if (axis < 0) continue;
    if (begun_) return memory_[s].length();
    if (pending_[s].defined()) return pending_[s].dim(axis);
  }
  return 0;
}

// Returns whether a dim that differs between two runs grows with the length. Two kinds of dims do: the length
// of a state, and the number of all past and new positions, as in a mask. The number of new positions does
// not. Its values in two runs also fit a linear function of the length, as any two values do. But a plan for
// this function would serve only these two runs.
bool States::Grows(size_t input, const LinearDim& dim) const {
  if (dim.slope != 1) return false;
  return input < is_input_.size() && is_input_[input] ? dim.base == 0 : dim.base == last_new_;
}

// Compares the dims of this run with the dims of the previous run. Returns how they depend on the length, or
// null if the two runs do not show this.
const LengthRange* States::RangeFor(const std::vector<BoundValue>& bound) {
  if (!has_last_ || last_length_ == 0 || length_ == last_length_ || last_dims_.size() != bound.size())
    return nullptr;
  const int64_t grown = length_ - last_length_;
  range_.inputs.assign(bound.size(), {});
  for (size_t i = 0; i < bound.size(); ++i) {
    if (!bound[i].datum->is_tensor()) continue;
    const Dims &now = bound[i].datum->tensor.dims(), &before = last_dims_[i];
    if (now.size() != before.size()) return nullptr;
    for (size_t k = 0; k < now.size(); ++k) {
      if ((now[k] - before[k]) % grown) return nullptr;
      const int64_t slope = (now[k] - before[k]) / grown;
      const LinearDim dim{now[k] - slope * length_, slope};
      if (slope != 0 && !Grows(i, dim)) return nullptr;
      range_.inputs[i].push_back(dim);
    }
  }
  int64_t max_length = kLeastRange;
  while (max_length <= length_) max_length *= 2;
  range_.max_length = 2 * max_length + kOdd;
  return &range_;
}

Result<Execution*> States::Prepare(Runner& runner, const std::vector<BoundValue>& bound) {
  planned_ = nullptr;  // reset, because a new execution may have the address of an old one
  const LengthRange* range = empty() || !one_length_.empty() ? nullptr : RangeFor(bound);
  if (!range) return runner.Prepare(bound, length_);
  auto made = Guard([&] { return runner.Prepare(bound, length_, range); });
  if (made.ok() || made.status().code() == Code::kCancelled) return made;
  one_length_ = made.status().message();
  return runner.Prepare(bound, length_);
}

Status States::CheckPresent(size_t s, DType dtype, const Dims& present) const {
  const Tensor& past = memory_[s].past();
  bool same = dtype == past.dtype() && present.size() == past.dims().size();
  for (int i = 0; same && i < past.rank(); ++i)
    same = i == memory_[s].axis() || present[static_cast<size_t>(i)] == past.dim(i);
  if (same) return {};
  return InvalidArgument("state '", Past(s).name, "' is ", past.Describe(), " and becomes ",
                         Describe(dtype, present), ", but ",
                         memory_[s].axis() < 0 ? "its type and dims must not change"
                                               : StrCat("only axis ", memory_[s].axis(), " may change"));
}

Status States::FindPresents(const Execution& execution) {
  presents_.clear();
  for (size_t s = 0; s < memory_.size(); ++s) {
    const int slot = execution.plan().states()[s].present, axis = memory_[s].axis();
    const std::optional<LinearDims> dims = DimsOf(execution.plan(), slot);
    if (!dims) {
      presents_.emplace_back();
      continue;
    }
    const DType dtype = execution.plan().slots()[static_cast<size_t>(slot)].tensor.dtype();
    for (int64_t length : {length_, length_ + 1})  // only the growing axis may depend on the length
      TERN_TRY(CheckPresent(s, dtype, At(*dims, length)));
    presents_.emplace_back(axis < 0 ? LinearDim() : (*dims)[static_cast<size_t>(axis)]);
  }
  planned_ = &execution;
  return {};
}

int64_t States::ReservePresents(const Plan& plan) {
  int64_t needed = 0, capacity = 0;
  for (size_t s = 0; s < memory_.size(); ++s)
    if (plan.states()[s].in_place)
      needed = std::max({needed, memory_[s].capacity(), presents_[s]->At(length_)});
  for (size_t s = 0; s < memory_.size(); ++s) {
    StateMemory& memory = memory_[s];
    if (!plan.states()[s].in_place) {
      memory.Reserve(presents_[s] ? presents_[s]->At(length_) : memory.length(), false);
      continue;
    }
    memory.Reserve(needed, true);
    TERN_CHECK(capacity == 0 || capacity == memory.capacity(), "states have capacities ", capacity, " and ",
               memory.capacity());
    capacity = memory.capacity();
  }
  return capacity;
}

Status States::Begin(Execution& execution, DatumList& inputs) {
  if (planned_ != &execution) TERN_TRY(FindPresents(execution));
  const int64_t capacity = ReservePresents(execution.plan());
  PointToPasts(inputs);  // ReservePresents may have moved the memory
  TERN_TRY(execution.SetLength(length_, capacity));
  for (size_t s = 0; s < memory_.size(); ++s)
    if (execution.plan().states()[s].external) execution.BindState(static_cast<int>(s), memory_[s].present());
  return {};
}

Status States::End(Execution& execution, const std::vector<BoundValue>& bound) {
  const auto present_of = [&](size_t s) -> const Datum& {
    return execution.slots()[static_cast<size_t>(execution.plan().states()[s].present)];
  };
  for (size_t s = 0; s < memory_.size(); ++s) {
    if (presents_[s]) continue;
    if (!present_of(s).is_tensor())
      return InvalidArgument("state '", Past(s).name, "' becomes ", present_of(s).Describe(),
                             ", not a tensor");
    TERN_TRY(CheckPresent(s, present_of(s).tensor.dtype(), present_of(s).tensor.dims()));
  }
  const auto length_of = [&](size_t s) {
    const int axis = memory_[s].axis();
    return presents_[s] ? presents_[s]->At(length_) : axis >= 0 ? present_of(s).tensor.dim(axis) : 0;
  };
  for (size_t s = 0; s < memory_.size(); ++s) {
    if (execution.plan().states()[s].external) continue;
    const Tensor dense = present_of(s).tensor.Contiguous();  // no step has written the present to the state
    memory_[s].Reserve(length_of(s), false);
    if (dense.bytes()) std::memcpy(memory_[s].present().data(), dense.raw(), dense.bytes());
  }
  Remember(bound);
  for (size_t s = 0; s < memory_.size(); ++s) {  // nothing fails or throws from here on
    if (memory_[s].axis() >= 0) last_new_ = length_of(s) - length_;
    memory_[s].Advance(length_of(s));
  }
  has_last_ = true;
  begun_ = true;
  std::fill(pending_.begin(), pending_.end(), Tensor());
  return {};
}

void States::Remember(const std::vector<BoundValue>& bound) {
  has_last_ = false;  // stays false if a copy below throws
  last_dims_.resize(bound.size());
  for (size_t i = 0; i < bound.size(); ++i)
    if (bound[i].datum->is_tensor()) last_dims_[i] = bound[i].datum->tensor.dims();
  last_length_ = length_;
}

Status States::Start(const std::vector<Tensor>& values) {
  if (values.size() != pending_.size())
    return InvalidModel("graph '", graph_.name, "' has ", pending_.size(), " states, got ", values.size(),
                        " values");
  Reset();
  for (size_t s = 0; s < values.size(); ++s) TERN_TRY(CheckDeclared(s, values[s]));
  pending_ = values;
  return {};
}

void States::SelectRows(int axis, const std::vector<size_t>& parents) {
  const std::vector<RowMove> moves = MovesFor(parents);
  if (moves.empty()) return;
  // All memory is allocated first. If an allocation fails, no state has changed.
  for (StateMemory& memory : memory_) memory.PrepareMoveRows(axis, moves);
  for (StateMemory& memory : memory_) memory.MoveRows(axis, moves);
}

// Makes the memory of states that no run has used. Dims that the model does not fix become `rows`, which is
// right if only the rows along `axis` are open.
Status States::MakeRows(int axis, int64_t rows) {
  std::vector<StateMemory> made;
  for (size_t s = 0; s < states_.size(); ++s) {
    SymbolValues symbols;
    const Type& type = Past(s).type;
    if (type.tensor() && type.shape.ranked && axis < type.shape.rank())
      BindSymbols(Type::TensorOf(type.dtype, Shape({type.shape[axis]})), {rows}, symbols);
    TERN_ASSIGN(Dims dims, FirstDims(s, symbols));
    if (axis < static_cast<int>(dims.size())) dims[static_cast<size_t>(axis)] = rows;
    if (s < memory_.size() && SameBut(axis, memory_[s].past().dims(), dims))
      made.push_back(std::move(memory_[s]));
    else
      made.emplace_back(type.dtype, std::move(dims), states_[s].axis);
  }
  memory_ = std::move(made);
  return {};
}

Status States::Resize(int axis, int64_t rows, int64_t length) {
  if (axis < 0 || rows < 1 || length < 0)
    return InvalidArgument("states cannot have ", rows, " rows along axis ", axis, " and the length ",
                           length);
  for (size_t s = 0; s < states_.size(); ++s)
    if (states_[s].axis <= axis)
      return Unsupported(
          "state '", Past(s).name, "' ",
          states_[s].axis < 0 ? "has a fixed size" : StrCat("grows along axis ", states_[s].axis),
          ", so the number of its rows along axis ", axis, " cannot be changed");
  bool other_rows = !begun_;
  if (!begun_) TERN_TRY(MakeRows(axis, rows));
  for (StateMemory& memory : memory_) {
    other_rows |= memory.past().dim(axis) != rows;
    memory.Resize(axis, rows, length);
  }
  if (other_rows) has_last_ = false;
  std::fill(pending_.begin(), pending_.end(), Tensor());
  planned_ = nullptr;
  begun_ = resized_ = true;
  return {};
}

Result<Tensor> States::Memory(const std::string& input) const {
  TERN_ASSIGN(const size_t s, Find(input));
  if (begun_ && memory_[s].axis() >= 0) return memory_[s].Memory();
  return NotFound("state '", input, "' has no memory of positions yet");
}

void States::Reset() {
  for (StateMemory& memory : memory_) memory.Reset();
  std::fill(pending_.begin(), pending_.end(), Tensor());
  begun_ = false;
  length_ = 0;
  has_last_ = false;
}

Result<size_t> States::Find(const std::string& input) const {
  std::vector<std::string> names;
  for (size_t s = 0; s < states_.size(); ++s) {
    if (Past(s).name == input) return s;
    names.push_back(StrCat("'", Past(s).name, "'"));
  }
  if (names.empty()) return NotFound("the model has no state '", input, "'; it has no states");
  return NotFound("the model has no state '", input, "'; it has ", Join(names, ", "));
}

Status States::CheckDeclared(size_t s, const Tensor& value) const {
  const Type& type = Past(s).type;
  const auto wrong = [&](const std::string& why) {
    return InvalidArgument("state '", Past(s).name, "' is ", type.ToString(), ", got ", value.Describe(),
                           why);
  };
  if (!type.tensor() || value.dtype() != type.dtype) return wrong("");
  if (!type.shape.ranked) return {};
  if (value.rank() != type.shape.rank())
    return wrong(StrCat(": rank ", value.rank(), " instead of ", type.shape.rank()));
  for (int i = 0; i < value.rank(); ++i)
    if (i != states_[s].axis && type.shape[i].known() && type.shape[i].value() != value.dim(i))
      return wrong(StrCat(": dimension ", i, " is ", value.dim(i), " instead of ", type.shape[i].value()));
  return {};
}

Status States::Set(const std::string& input, const Tensor& value) {
  TERN_ASSIGN(const size_t s, Find(input));
  TERN_TRY(CheckDeclared(s, value));
  if (!begun_) {
    pending_[s] = value.Clone();
    return {};
  }
  const Status set = memory_[s].Set(value);
  if (set.ok()) return {};
  return InvalidArgument("state '", input, "': ", set.message(), " without a reset of all states");
}

Result<Tensor> States::Get(const std::string& input) const {
  TERN_ASSIGN(const size_t s, Find(input));
  if (begun_) return memory_[s].Value();
  if (pending_[s].defined()) return pending_[s].Clone();
  return NotFound("state '", input, "' (", Past(s).type.ToString(), ") has no value before the first run");
}

void States::CopyFrom(const States& other) {
  TERN_CHECK(other.pending_.size() == pending_.size(), "cannot copy ", other.pending_.size(), " states to ",
             pending_.size());
  const bool has_last = has_last_;  // only values change, so RangeFor can still use the dims of the last run
  Reset();
  has_last_ = has_last;
  for (size_t s = 0; s < pending_.size(); ++s)
    pending_[s] = other.begun_ ? other.memory_[s].Value() : other.pending_[s];
}

}  // namespace tern
