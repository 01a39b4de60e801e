#include "bindings/python/predictor.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/python/describe.h"
#include "bindings/python/errors.h"
#include "bindings/python/numpy.h"

namespace tern::python {
namespace {

nb::object Interned(const std::string& text) {
  PyObject* object = PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
  if (!object) throw nb::python_error();
  PyUnicode_InternInPlace(&object);
  return nb::steal(object);
}

}  // namespace

Predictor::Predictor(nb::handle model, const nb::dict& options)
    : model_(LoadModel(model, options)), pool_(model_.session, model_.parallel) {
  AddPorts();
}

Predictor::Predictor(const Predictor& other) : model_(other.model_), pool_(model_.session, model_.parallel) {
  AddPorts();
}

void Predictor::AddPorts() {
  const Session& session = *model_.session;
  const Graph& graph = session.graph();
  for (int i = 0; i < session.InputCount(); ++i)
    if (const Value* v = graph.inputs()[static_cast<size_t>(i)]; !session.IsStateInput(i))
      inputs_.push_back({v, i, Interned(v->name)});
  for (int i = 0; i < session.OutputCount(); ++i)
    if (const Value* v = graph.outputs()[static_cast<size_t>(i)]; !session.IsStateOutput(i))
      outputs_.push_back({v, i, Interned(v->name)});
  for (const Value* v : session.Overridable()) constants_.push_back({v, -1, Interned(v->name)});
}

nb::list Predictor::Describe(const std::vector<Port>& ports) {
  nb::list list;
  for (const Port& port : ports) list.append(DescribeValue(port.value->name, port.value->type));
  return list;
}

std::unique_ptr<Slot> Predictor::TakeSlot(const Stop& stop) {
  if (std::unique_ptr<Slot> slot = pool_.TryTake()) return slot;
  Result<std::unique_ptr<Slot>> taken = [&] {
    const nb::gil_scoped_release release;
    return pool_.Take(stop);
  }();
  return Unwrap(std::move(taken));
}

nb::list Predictor::States() const {
  nb::list list;
  const Graph& graph = model_.session->graph();
  for (const GraphState& state : graph.states())
    list.append(nb::make_tuple(state.input->name, graph.outputs()[static_cast<size_t>(state.output)]->name,
                               state.input->type.ToString(), state.axis));
  return list;
}

int64_t Predictor::StateLength() {
  return WithSession({}, [](Slot& slot) { return slot.active().StateLength(); });
}

void Predictor::ResetStates() {
  WithSession({}, [](Slot& slot) { slot.active().ResetState(); });
}

nb::object Predictor::GetState(const std::string& name) {
  return WithSession({}, [&](Slot& slot) { return CopyToArray(Unwrap(slot.active().GetState(name))); });
}

void Predictor::SetState(const std::string& name, nb::handle value) {
  const GraphState* found = nullptr;
  for (const GraphState& state : model_.session->graph().states())
    if (state.input->name == name) found = &state;
  Loans loans;
  const Datum datum =
      ToDatum(value, found ? found->input->type : Type(), StrCat("state '", name, "'"), loans);
  WithSession({}, [&](Slot& slot) { Check(slot.active().SetState(name, datum.tensor)); });
}

std::vector<std::string> Predictor::Warnings() {
  std::vector<std::string> all = model_.warnings;
  WithSession({}, [&](Slot& slot) {
    for (std::string& text : slot.active().Warnings())
      if (std::find(all.begin(), all.end(), text) == all.end()) all.push_back(std::move(text));
  });
  return all;
}

nb::dict Predictor::Memory() {
  const MemoryReport report = WithSession({}, [](Slot& slot) { return slot.active().Memory(); });
  nb::dict out;
  out["weights"] = report.weights;
  out["folded"] = report.folded;
  out["packed"] = report.packed;
  out["arena"] = report.arena;
  out["dynamic"] = report.dynamic;
  out["dynamic_peak"] = report.dynamic_peak;
  return out;
}

}  // namespace tern::python
