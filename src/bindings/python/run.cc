// Predictor.run and Predictor.__call__: feeds the inputs, runs a session, and returns the results.
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>

#include "bindings/python/errors.h"
#include "bindings/python/numpy.h"
#include "bindings/python/predictor.h"

namespace tern::python {
namespace {

// A result of at least this many bytes is written to its array by the kernels. Copying a smaller one is
// cheaper than binding it.
constexpr size_t kLargeOutput = size_t{32} << 10;

Stop StopOf(const RunSettings& settings) {
  Stop stop;
  if (settings.cancel) stop.cancel = settings.cancel->flag();
  if (settings.timeout == 0) return stop;
  if (!(settings.timeout > 0))
    Raise(InvalidArgument("timeout is ", settings.timeout, " seconds, must be more than 0, or None"));
  const double nanoseconds = std::min(settings.timeout * 1e9, 9e18 / 4);
  stop.deadline = Stop::Clock::now() + std::chrono::nanoseconds(static_cast<int64_t>(nanoseconds));
  return stop;
}

[[noreturn]] void RaiseTagged(Status status, const RunSettings& settings) {
  if (!settings.tag.empty()) status = std::move(status).While(StrCat("run '", settings.tag, "'"));
  Raise(status);
}

std::string Names(const std::vector<Port>& ports) {
  std::vector<std::string> names;
  for (const Port& port : ports) names.push_back(port.value->name);
  return names.empty() ? "none" : Join(names, ", ");
}

const Port* Find(const std::vector<Port>& ports, nb::handle key) {
  for (const Port& port : ports) {
    if (port.key.ptr() == key.ptr()) return &port;
    const int equal = PyObject_RichCompareBool(port.key.ptr(), key.ptr(), Py_EQ);
    if (equal < 0) throw nb::python_error();
    if (equal) return &port;
  }
  return nullptr;
}

// Returns the value of a key, or an object that is not valid. The conversion of a value may run Python code,
// which may remove the value from the dict, so the result is a reference of its own.
nb::object ValueOf(nb::handle dict, nb::handle key) {
  PyObject* value = PyDict_GetItemWithError(dict.ptr(), key.ptr());
  if (!value && PyErr_Occurred()) throw nb::python_error();
  return value ? nb::borrow(value) : nb::object();
}

// Returns an empty tern.Outputs, which is a dict.
nb::object NewOutputs() {
  static PyObject* type = nullptr;
  if (!type) type = Attribute("tern.outputs", "Outputs").release().ptr();
  PyObject* made = PyObject_CallNoArgs(type);
  if (!made) throw nb::python_error();
  return nb::steal(made);
}

bool Overlap(const Tensor& a, const Tensor& b) {
  const auto* from_a = static_cast<const char*>(a.raw());
  const auto* from_b = static_cast<const char*>(b.raw());
  return std::less<>()(from_a, from_b + b.bytes()) && std::less<>()(from_b, from_a + a.bytes());
}

// Returns whether the object is a pandas.DataFrame or has the same interface.
bool IsFrame(nb::handle object) {
  return PyObject_HasAttrString(object.ptr(), "columns") && PyObject_HasAttrString(object.ptr(), "to_numpy");
}

}  // namespace

// One run: the fed values and the wanted outputs.
struct Predictor::Job {
  struct Wanted {
    const Port* port;
    nb::object array = {};  // the array that the session writes, if there is one
    bool bound = false;     // whether `array` is the caller's
  };
  Loans loans;
  Status wrong_type;  // of the first input whose elements have another type than declared
  std::vector<std::pair<int, Datum>> feeds;
  std::vector<std::string> constants;  // names of the fed constants, in the model's order
  DatumList constant_values;
  std::vector<Wanted> wanted;
};

void Predictor::Feed(const Port& port, nb::handle value, Job& job) const {
  const std::string what = StrCat("input '", port.value->name, "'");
  const Type& type = port.value->type;
  job.feeds.emplace_back(port.index, ToDatum(value, type, what, job.loans));
  if (job.wrong_type.ok()) job.wrong_type = CheckElementType(value, type, job.feeds.back().second, what);
}

void Predictor::FeedMapping(nb::handle dict, Job& job) const {
  Py_ssize_t used = 0;
  for (const Port& port : inputs_) {
    const nb::object value = ValueOf(dict, port.key);
    if (!value.is_valid()) continue;
    ++used;
    Feed(port, value, job);
  }
  if (used == PyDict_Size(dict.ptr())) return;
  for (const Port& port : constants_) {
    const nb::object value = ValueOf(dict, port.key);
    if (!value.is_valid()) continue;
    job.constants.push_back(port.value->name);
    job.constant_values.push_back(
        ToDatum(value, port.value->type, StrCat("constant '", port.value->name, "'"), job.loans));
  }
  for (auto [key, value] : nb::borrow<nb::dict>(dict))
    if (!Find(inputs_, key) && !Find(constants_, key))
      Raise(NotFound("the model has no input ", nb::cast<std::string>(nb::repr(key)),
                     "; it has: ", Names(inputs_)));
}

void Predictor::FeedSequence(nb::handle values, Job& job) const {
  const size_t count = nb::len(values);
  if (count > inputs_.size())
    Raise(InvalidArgument("the model takes ", inputs_.size(), " inputs (", Names(inputs_), "), got ", count));
  for (size_t i = 0; i < count; ++i) Feed(inputs_[i], nb::object(values[i]), job);
}

void Predictor::CheckAllFed(Job& job) const {
  if (job.feeds.size() == inputs_.size()) return;
  for (const Port& port : inputs_) {
    const bool fed = std::any_of(job.feeds.begin(), job.feeds.end(),
                                 [&](const auto& feed) { return feed.first == port.index; });
    if (fed) continue;
    // Without a value of its own, the session would read the value of an earlier run.
    if (port.value->type.kind == Type::Kind::kOptional)
      job.feeds.emplace_back(port.index, Datum::None());
    else
      Raise(InvalidArgument("input '", port.value->name, "' (", port.value->type.ToString(),
                            ") is missing; the model takes: ", Names(inputs_)));
  }
}

void Predictor::ChooseOutputs(nb::handle outputs, nb::handle out, Job& job) const {
  if (!outputs.is_valid() || outputs.is_none()) {
    for (const Port& port : outputs_) job.wanted.push_back({&port});
  } else {
    for (nb::handle name : outputs) {
      const Port* port = Find(outputs_, name);
      if (!port)
        Raise(NotFound("the model has no output ", nb::cast<std::string>(nb::repr(name)),
                       "; it has: ", Names(outputs_)));
      const bool twice = std::any_of(job.wanted.begin(), job.wanted.end(),
                                     [&](const Job::Wanted& w) { return w.port == port; });
      if (!twice) job.wanted.push_back({port});
    }
  }
  if (!out.is_valid() || out.is_none()) return;
  if (!PyDict_Check(out.ptr()))
    Raise(InvalidArgument("out is a dict from names of outputs to arrays, got a value of the type ",
                          nb::cast<std::string>(nb::str(out.type().attr("__name__")))));
  for (auto [name, array] : nb::cast<nb::dict>(out)) {
    const auto at = std::find_if(job.wanted.begin(), job.wanted.end(),
                                 [&](const Job::Wanted& w) { return w.port == Find(outputs_, name); });
    if (at == job.wanted.end())
      Raise(NotFound("out: the model has no output ", nb::cast<std::string>(nb::repr(name)),
                     ", or it is not asked for; the outputs are: ", Names(outputs_)));
    at->array = nb::borrow(array);
    at->bound = true;
  }
}

void Predictor::BindInputs(Session& session, const Job& job) {
  for (const auto& [index, datum] : job.feeds) Check(session.BindInput(index, datum));
  const int count = session.InputCount() - static_cast<int>(job.constants.size());
  for (size_t i = 0; i < job.constants.size(); ++i)
    Check(session.BindInput(count + static_cast<int>(i), job.constant_values[i]));
}

// Binds the caller's arrays, and new arrays for large outputs whose dims are known before the run.
void Predictor::BindLarge(Slot& slot, Session& session, Job& job) const {
  bool prepared = false;
  std::vector<Tensor> taken;
  for (Job::Wanted& w : job.wanted) {
    const std::string what = StrCat("output '", w.port->value->name, "'");
    if (w.bound) {
      const Tensor bound = ToBoundTensor(w.array, w.port->value->type.dtype, what, job.loans);
      for (const auto& [index, datum] : job.feeds)
        if (datum.is_tensor() && Overlap(datum.tensor, bound))
          Raise(InvalidArgument(what, ": the array shares memory with an input"));
      for (const Tensor& other : taken)
        if (Overlap(other, bound))
          Raise(InvalidArgument(what, ": the array shares memory with that of another output"));
      taken.push_back(bound);
      Check(session.BindOutput(w.port->index, bound));
      continue;
    }
    if (!slot.large_outputs) continue;
    if (!prepared) {
      const Status status = [&] {
        const nb::gil_scoped_release release;
        return session.Prepare();
      }();
      Check(status);
      prepared = true;
    }
    const Tensor planned = session.PlannedOutput(w.port->index);
    if (!planned.defined() || BitWidth(planned.dtype()) < 8 || planned.bytes() < kLargeOutput) continue;
    NewArray made = Allocate(planned.dtype(), planned.dims());
    Buffer memory = Buffer::Borrow(made.data, planned.bytes(), nullptr);
    Check(
        session.BindOutput(w.port->index, Tensor::View(std::move(memory), planned.dtype(), planned.dims())));
    w.array = std::move(made.array);
  }
}

nb::object Predictor::Collect(Slot& slot, Session& session, Job& job) const {
  nb::object results = NewOutputs();
  slot.large_outputs = false;
  for (Job::Wanted& w : job.wanted) {
    const Datum& datum = session.Output(w.port->index);
    if (datum.is_tensor() && datum.tensor.bytes() >= kLargeOutput) slot.large_outputs = true;
    if (!w.array.is_valid()) w.array = FromDatum(datum);
    if (PyDict_SetItem(results.ptr(), w.port->key.ptr(), w.array.ptr()) != 0) throw nb::python_error();
  }
  return results;
}

nb::object Predictor::Execute(Job& job, const RunSettings& settings) {
  CheckAllFed(job);
  if (!job.wrong_type.ok()) RaiseTagged(std::move(job.wrong_type), settings);
  const Stop stop = StopOf(settings);
  Lease slot(pool_, TakeSlot(stop));
  Session& session = *Unwrap(slot->For(job.constants));
  session.SetStop(stop);
  // Later runs must not write to the arrays of this run.
  struct Unbind {
    Session& session;
    std::vector<Job::Wanted>& wanted;
    ~Unbind() {
      for (const Job::Wanted& w : wanted)
        if (w.array.is_valid()) (void)session.BindOutput(w.port->index, Tensor());
    }
  } const unbind{session, job.wanted};
  BindInputs(session, job);
  BindLarge(*slot.operator->(), session, job);
  Status status = [&] {
    const nb::gil_scoped_release release;
    return session.Run();
  }();
  if (!status.ok()) RaiseTagged(std::move(status), settings);
  return Collect(*slot.operator->(), session, job);
}

void Predictor::FeedAny(nb::handle inputs, Job& job) const {
  if (PyDict_Check(inputs.ptr()))
    FeedMapping(inputs, job);
  else if (IsNdarray(inputs))
    FeedSequence(nb::make_tuple(inputs), job);
  else if (IsFrame(inputs))
    FeedMapping(Attribute("tern.convert", "from_frame")(inputs, Inputs()), job);
  else if (PyList_Check(inputs.ptr()) || PyTuple_Check(inputs.ptr()))
    FeedSequence(inputs, job);
  else
    FeedSequence(nb::make_tuple(inputs), job);
}

nb::object Predictor::Run(nb::handle inputs, nb::handle outputs, nb::handle out,
                          const RunSettings& settings) {
  Job job;
  FeedAny(inputs, job);
  ChooseOutputs(outputs, out, job);
  return Execute(job, settings);
}

nb::object Predictor::WithInputs(nb::handle inputs, const SessionBody& body) {
  Job job;
  FeedAny(inputs, job);
  CheckAllFed(job);
  Check(job.wrong_type);
  Lease slot(pool_, TakeSlot({}));
  Session& session = *Unwrap(slot->For(job.constants));
  session.SetStop({});
  BindInputs(session, job);
  return body(session);
}

nb::object Predictor::Call(const nb::args& args, const nb::kwargs& kwargs) {
  Job job;
  const size_t count = args.size();
  if (count == 1 && kwargs.size() == 0 && !IsNdarray(args[0])) {
    const nb::object only = args[0];
    const bool maps = inputs_.size() == 1 && inputs_[0].value->type.kind == Type::Kind::kMap;
    if (PyDict_Check(only.ptr()) && !maps) return Run(only, nb::none(), nb::none(), {});
    if (IsFrame(only)) return Run(only, nb::none(), nb::none(), {});
  }
  FeedSequence(args, job);
  for (size_t i = 0; i < count; ++i)
    if (PyDict_Contains(kwargs.ptr(), inputs_[i].key.ptr()) == 1)
      Raise(InvalidArgument("input '", inputs_[i].value->name, "' is given twice, by position and by name"));
  if (kwargs.size()) FeedMapping(kwargs, job);
  ChooseOutputs({}, {}, job);
  return Execute(job, {});
}

}  // namespace tern::python
