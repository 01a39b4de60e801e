#include "runtime/exec/session.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "base/cores.h"
#include "base/cpu_info.h"
#include "base/placement.h"
#include "ir/eval_context.h"
#include "ir/state.h"
#include "kernels/cpu/simd/simd.h"
#include "kernels/cpu/simd/vnni.h"
#include "ops/ops.h"
#include "runtime/bind/cpu_target.h"
#include "runtime/exec/input_check.h"
#include "runtime/exec/runner.h"
#include "runtime/exec/stateful_runner.h"
#include "runtime/memory/owned.h"
#include "runtime/plan/plan_store.h"
#include "runtime/tune/explain.h"

namespace tern {
namespace {

std::string NamesOf(const std::vector<Value*>& values) {
  std::vector<std::string> names;
  for (const Value* v : values) names.push_back(StrCat("'", v->name, "'"));
  return Join(names, ", ");
}

// Returns the graph with the states that `text` selects (see SessionOptions::states). Changes the graph in
// place if no other pointer to it exists.
Result<std::shared_ptr<const Graph>> WithStates(std::shared_ptr<const Graph> graph, const std::string& text) {
  TERN_ASSIGN(const std::vector<GraphState> found, StatesFromText(*graph, text));
  // Pairs each state with the name of its input, because a cloned graph has other Value objects.
  std::vector<std::pair<std::string, GraphState>> named;
  for (const GraphState& state : found) named.emplace_back(state.input->name, state);
  const bool sole_owner = graph.use_count() == 1;
  std::shared_ptr<Graph> out = sole_owner ? std::const_pointer_cast<Graph>(graph) : graph->Clone();
  graph.reset();
  out->ClearStates();
  for (auto& [name, state] : named) {
    for (Value* input : out->inputs())
      if (input->name == name) state.input = input;
    out->AddState(state);
  }
  return std::shared_ptr<const Graph>(std::move(out));
}

// Appends the kernel choices of `ran`, then the choices of the last plans of its subgraphs.
void AddChoices(Engine& engine, const Program& program, const Execution& ran, std::vector<Choice>& out) {
  for (Choice& choice : MergeSlices(ran.Choices())) out.push_back(std::move(choice));
  for (const NodeProgram& node : program.nodes)
    for (const auto& inner : node.subgraphs)
      if (const Execution* last = engine.RunnerFor(*inner).last()) AddChoices(engine, *inner, *last, out);
}

}  // namespace

struct Session::State {
  State(const std::shared_ptr<Model>& shared, const SessionOptions& options)
      : states(shared->program()), engine(shared, options) {
    const size_t count = shared->graph().inputs().size();
    inputs.resize(count);
    for (const Datum& d : inputs) bound.push_back({&d, false});
    for (const Value* input : shared->graph().inputs()) {
      const Type& type = input->type;
      const bool optional = type.kind == Type::Kind::kOptional && type.element;
      containers |= !(optional ? *type.element : type).tensor();
    }
    outputs.resize(shared->graph().outputs().size());
    copies.resize(outputs.size());
  }

  // A session in which the overridable constants `variant_names` are inputs. It is null until a caller feeds
  // such a constant.
  std::unique_ptr<Session> variant;
  std::vector<std::string> variant_names;

  States states;
  Engine engine;
  DatumList inputs;
  std::vector<BoundValue> bound;  // points to `inputs`
  bool containers = false;        // whether an input is a sequence or a map
  std::vector<Tensor> outputs;    // tensors that the caller bound; undefined if not bound
  std::vector<bool> copies;       // by output: whether Run copies it to the bound tensor after the steps
  Execution* current = nullptr;   // the execution of the last run or Prepare

  const Program& program() { return engine.model->program(); }

  Result<Execution*> Prepare() {
    const ActiveScope active_scope;
    Runner& runner = engine.RunnerFor(program());
    if (!states.empty()) TERN_TRY(states.Feed(inputs));
    // A plan serves sequences and maps of all element types, so these inputs are checked before every run.
    if (current && !containers && current->plan().Matches(bound, states.length())) return current;
    std::vector<const Datum*> data;
    for (const Datum& d : inputs) data.push_back(&d);
    const auto conflict = CheckInputs(engine.model->graph(), data);
    if (conflict.ok() && current && containers && current->plan().Matches(bound, states.length()))
      return current;
    if (current) current->Release();
    current = nullptr;
    TERN_TRY(conflict.status());
    auto made = states.Prepare(runner, bound);
    if (!made.ok() && !conflict->empty())
      return InvalidArgument(*conflict, "; therefore: ", made.status().message());
    if (!made.ok()) return Blamed(made.TakeStatus());
    TERN_ASSIGN(current, std::move(made));
    return current;
  }

  Status BindOutputs() {
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Tensor& t = outputs[i];
      copies[i] = !current->Redirect(static_cast<int>(i), t) && t.defined();
      if (!t.defined()) continue;
      const Datum& planned = current->Output(static_cast<int>(i));
      if (!copies[i] || !planned.is_tensor() || !planned.tensor.defined()) continue;
      TERN_TRY(Fits(i, planned.tensor));
    }
    return {};
  }

  Status Fits(size_t i, const Tensor& got) const {
    if (got.dtype() == outputs[i].dtype() && got.dims() == outputs[i].dims()) return {};
    return InvalidArgument("output '", engine.model->graph().outputs()[i]->name, "' is ", got.Describe(),
                           ", but the bound tensor is ", outputs[i].Describe());
  }

  Status CheckBoundOutputs() const {
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!outputs[i].defined()) continue;
      const Datum& planned = current->Output(static_cast<int>(i));
      if (planned.is_tensor()) TERN_TRY(Fits(i, planned.tensor));
    }
    return {};
  }

  Status CopyOutputs() {
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!copies[i]) continue;
      const Datum& d = current->Output(static_cast<int>(i));
      if (!d.is_tensor())
        return InvalidArgument("output '", engine.model->graph().outputs()[i]->name, "' is not a tensor");
      TERN_TRY(Fits(i, d.tensor));
      if (d.tensor.bytes()) std::memcpy(outputs[i].raw(), d.tensor.raw(), d.tensor.bytes());
    }
    return {};
  }

  Status Run() {
    const ActiveScope active_scope;  // the thread counts as active between parallel loops too
    TERN_TRY(Prepare().status());
    if (!states.empty()) TERN_TRY(states.Begin(*current, inputs));
    TERN_TRY(CheckBoundOutputs());
    TERN_TRY(BindOutputs());
    TERN_TRY(Blamed(current->Run(bound)));
    TERN_TRY(CopyOutputs());
    return states.empty() ? Status() : states.End(*current, bound);
  }

  // Returns the states of the main graph, then those of nested graphs.
  std::vector<const States*> AllStates() const {
    std::vector<const States*> all{&states};
    for (const auto& [program, runner] : engine.stateful_runners()) all.push_back(&runner->states());
    return all;
  }

  Status Blamed(Status status) const {
    if (status.ok()) return status;
    std::vector<const Datum*> data;
    for (const Datum& d : inputs) data.push_back(&d);
    return BlameInputs(std::move(status), engine.model->graph(), data);
  }
};

Session::Session(std::unique_ptr<State> state) : state_(std::move(state)) {}
Session::~Session() = default;

Result<std::unique_ptr<Session>> Session::Create(std::shared_ptr<const Graph> graph,
                                                 const SessionOptions& options) {
  return Guard([&]() -> Result<std::unique_ptr<Session>> {
    const ActiveScope active_scope;
    InitOps();
    for (const char* problem : {cpu::SimdProblem(), cpu::VnniProblem(), CoresProblem(), PinProblem()})
      if (*problem) return InvalidArgument(problem);
    TERN_TRY(options.Validate());
    const SessionOptions resolved = options.Resolved();
    if (!resolved.states.empty()) {
      TERN_ASSIGN(graph, WithStates(std::move(graph), resolved.states));
    }
    TERN_ASSIGN(auto model, Model::Create(std::move(graph), resolved, Workers(resolved.threads)));
    return std::unique_ptr<Session>(new Session(std::make_unique<State>(std::move(model), resolved)));
  });
}

std::unique_ptr<Session> Session::Clone() const {
  return std::unique_ptr<Session>(
      new Session(std::make_unique<State>(state_->engine.model, state_->engine.options)));
}

const Graph& Session::graph() const { return state_->engine.model->graph(); }
int Session::InputCount() const { return static_cast<int>(state_->inputs.size()); }
int Session::OutputCount() const { return static_cast<int>(state_->outputs.size()); }

Status Session::BindInput(int i, const Datum& value) {
  if (i < 0 || i >= InputCount())
    return InvalidArgument("input ", i, " does not exist: the number of inputs is ", InputCount());
  if (IsStateInput(i)) {
    if (value.kind == Datum::Kind::kEmpty) return {};
    return InvalidArgument("input '", graph().inputs()[static_cast<size_t>(i)]->name,
                           "' is a state and cannot be fed; use SetState to change its value");
  }
  state_->inputs[static_cast<size_t>(i)] = value;
  return {};
}

Status Session::BindInput(std::string_view name, const Datum& value) {
  const auto& inputs = graph().inputs();
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i]->name == name) return BindInput(static_cast<int>(i), value);
  return NotFound("the model has no input '", name, "'; it has ", NamesOf(inputs));
}

Status Session::BindOutput(int i, const Tensor& tensor) {
  if (i < 0 || i >= OutputCount())
    return InvalidArgument("output ", i, " does not exist: the number of outputs is ", OutputCount());
  if (tensor.defined() && IsStateOutput(i))
    return InvalidArgument("output '", graph().outputs()[static_cast<size_t>(i)]->name,
                           "' is a state and cannot be bound; use GetState to copy its value");
  if (tensor.defined() && !tensor.contiguous())
    return InvalidArgument("output ", i, ": the bound tensor must be contiguous");
  state_->outputs[static_cast<size_t>(i)] = tensor;
  return {};
}

Status Session::Run() {
  return Guard([&] { return state_->Run(); });
}

Status Session::Prepare() {
  return Guard([&]() -> Status { return state_->Prepare().status(); });
}

Tensor Session::PlannedOutput(int i) const {
  if (!state_->current || !state_->states.empty() || !state_->current->Planned(i)) return {};
  const Datum& planned = state_->current->Output(i);
  return planned.is_tensor() ? planned.tensor : Tensor();
}

const Datum& Session::Output(int i) const {
  static const Datum none;
  return state_->states.IsOutput(i) ? none : state_->current->Output(i);
}

bool Session::IsStateInput(int i) const { return state_->states.IsInput(i); }
bool Session::IsStateOutput(int i) const { return state_->states.IsOutput(i); }
int64_t Session::StateLength() const { return state_->states.current_length(); }
void Session::ResetState() { state_->states.Reset(); }
Status Session::CopyStates(const Session& other) {
  return Guard([&]() -> Status {
    state_->states.CopyFrom(other.state_->states);
    return {};
  });
}
Status Session::SetState(const std::string& input, const Tensor& value) {
  return Guard([&] { return state_->states.Set(input, value); });
}
Result<Tensor> Session::GetState(const std::string& input) const {
  return Guard([&] { return state_->states.Get(input); });
}

Status Session::ResizeStates(int axis, int64_t rows, int64_t length) {
  return Guard([&] { return state_->states.Resize(axis, rows, length); });
}
Result<Tensor> Session::StateMemory(const std::string& input) {
  return Guard([&] { return state_->states.Memory(input); });
}

Result<DatumList> Session::Run(const DatumList& inputs) {
  if (static_cast<int>(inputs.size()) != InputCount())
    return InvalidArgument("the model takes ", InputCount(), " inputs (", NamesOf(graph().inputs()),
                           "), got ", inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) TERN_TRY(BindInput(static_cast<int>(i), inputs[i]));
  TERN_TRY(Run());
  return Guard([&]() -> Result<DatumList> {
    DatumList out;
    for (int i = 0; i < OutputCount(); ++i) out.push_back(IsStateOutput(i) ? Datum() : Copied(Output(i)));
    return out;
  });
}

const std::vector<Value*>& Session::Overridable() const {
  return state_->engine.model->source().overridable();
}

Result<std::unique_ptr<Session>> Session::Overriding(const std::vector<std::string>& names) const {
  return Guard([&]() -> Result<std::unique_ptr<Session>> {
    const Engine& engine = state_->engine;
    TERN_ASSIGN(auto model, engine.model->Variant(names, engine.workers, engine.stop));
    return std::unique_ptr<Session>(
        new Session(std::make_unique<State>(std::move(model), state_->engine.options)));
  });
}

Result<DatumList> Session::Run(const NamedData& inputs) {
  const auto& overridable = Overridable();
  DatumList data(static_cast<size_t>(InputCount()));
  std::vector<std::string> names;
  DatumList overrides;
  for (const auto& [name, datum] : inputs) {
    const auto same = [&name = name](const Value* v) { return v->name == name; };
    const auto it = std::find_if(graph().inputs().begin(), graph().inputs().end(), same);
    if (it != graph().inputs().end()) {
      data[static_cast<size_t>(it - graph().inputs().begin())] = datum;
    } else if (std::any_of(overridable.begin(), overridable.end(), same)) {
      names.push_back(name);
      overrides.push_back(datum);
    } else {
      return NotFound("the model has no input '", name, "'; it has ", NamesOf(graph().inputs()));
    }
  }
  if (names.empty()) return Run(data);
  data.insert(data.end(), overrides.begin(), overrides.end());
  if (!state_->variant || state_->variant_names != names) {
    TERN_ASSIGN(state_->variant, Overriding(names));
    state_->variant_names = names;
  }
  state_->variant->SetObserver(state_->engine.observer);
  state_->variant->SetStop(state_->engine.stop);
  state_->variant->SetThreads(state_->engine.run_workers.threads());
  if (state_->states.empty()) return state_->variant->Run(data);
  TERN_TRY(state_->variant->CopyStates(*this));
  TERN_ASSIGN(DatumList out, state_->variant->Run(data));
  TERN_TRY(CopyStates(*state_->variant));
  return out;
}

void Session::SetObserver(RunObserver* observer) { state_->engine.observer = observer; }

void Session::SetStop(const Stop& stop) { state_->engine.stop = stop; }

void Session::SetThreads(int threads) {
  Engine& engine = state_->engine;
  const bool all = threads <= 0 || threads >= engine.workers.threads();
  engine.run_workers = all ? engine.workers : Workers(threads);
}

std::vector<Fallback> Session::Fallbacks() const {
  std::vector<Fallback> out;
  for (const Node* node : state_->engine.fallbacks) out.push_back({node->Describe(), node->op->name});
  if (state_->variant)
    for (Fallback& f : state_->variant->Fallbacks()) out.push_back(std::move(f));
  return out;
}

std::vector<StepInfo> Session::Steps() const {
  std::vector<StepInfo> out;
  if (!state_->current) return out;
  for (const StepState& step : state_->current->steps()) {
    const PlanNode& node = step.node();
    out.push_back(
        {&node.node(), step.kernel_name, step.step->dynamic, node.next ? node.next->node : nullptr});
  }
  return out;
}

std::vector<Choice> Session::Choices() const {
  std::vector<Choice> out;
  if (state_->current) AddChoices(state_->engine, state_->program(), *state_->current, out);
  return out;
}

TuneReport Session::Tuning() const {
  const Tuner* tuner = state_->engine.model->tuner();
  return tuner ? tuner->Report() : TuneReport();
}

std::vector<std::string> Session::Warnings() const {
  std::vector<std::string> out;
  const TuneReport tuning = Tuning();
  // A file that cannot be read is not written either, so one warning is enough.
  if (!tuning.written.ok())
    out.push_back(StrCat("measurements are not stored: ", tuning.written.message()));
  else if (!tuning.read.ok())
    out.push_back(StrCat("measurements are not read: ", tuning.read.message()));
  for (const States* states : state_->AllStates())
    if (!states->one_length().empty())
      out.push_back(StrCat("each length of the states needs its own plan: ", states->one_length()));
  std::map<std::string, int> ops;
  if (!state_->engine.options.reference)
    for (const Fallback& f : Fallbacks()) ++ops[f.op];
  std::vector<std::string> counts;
  for (const auto& [op, count] : ops) counts.push_back(StrCat(op, " (", count, ")"));
  if (!ops.empty())
    out.push_back("the slow reference evaluator runs nodes without a kernel: " + Join(counts, ", "));
  return out;
}

Packs Session::PackedWeights() const { return state_->engine.model->packs(); }

MemoryReport Session::Memory() const {
  const Engine& e = state_->engine;
  size_t released = 0;  // weights that are in memory only as packs
  for (const Tensor& weight : e.model->residency().Weights())
    if (weight.defined() && !weight.raw()) released += weight.bytes();
  const size_t weights = e.model->weight_bytes() - std::min(e.model->weight_bytes(), released);
  return {weights,         e.model->folded_bytes(), e.model->packed_bytes(),
          e.arena_bytes(), e.pool.bytes(),          e.pool.peak_bytes()};
}

int Session::PlanCount() const { return state_->engine.RunnerFor(state_->program()).plan_count(); }
int Session::PlansMade() const { return state_->engine.model->plans().made(); }

}  // namespace tern
