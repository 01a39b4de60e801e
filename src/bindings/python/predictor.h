// The class Predictor of the extension module. The Python class tern.Predictor derives from it.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bindings/python/feed.h"
#include "bindings/python/options.h"
#include "bindings/python/pool.h"

namespace tern::python {

// A flag that ends runs early. Thread-safe.
class Cancel {
 public:
  void Set() { flag_ = true; }
  void Clear() { flag_ = false; }
  bool IsSet() const { return flag_; }
  const std::atomic<bool>* flag() const { return &flag_; }

 private:
  std::atomic<bool> flag_{false};
};

// The keyword arguments of Predictor.run.
struct RunSettings {
  double timeout = 0;  // seconds; 0 means no limit
  const Cancel* cancel = nullptr;
  std::string tag;
};

// An input, output or overridable constant of the model.
struct Port {
  const Value* value;
  int index;       // among the session's inputs or outputs; -1 for a constant
  nb::object key;  // the name as an interned str
};

// Thread-safe: concurrent calls run on different sessions of a pool. If the model has states, calls wait for
// each other. Functions need the GIL, and release it while the model runs.
class Predictor {
 public:
  Predictor(nb::handle model, const nb::dict& options);
  explicit Predictor(const Predictor& other);  // shares the weights; has its own sessions and states

  nb::object Call(const nb::args& args, const nb::kwargs& kwargs);
  // `inputs` is a dict, a sequence in the order of the inputs, or one value. `outputs` are the names of the
  // wanted outputs, or None. `out` is a dict from names to arrays for the results, or None.
  nb::object Run(nb::handle inputs, nb::handle outputs, nb::handle out, const RunSettings& settings);

  nb::list Inputs() const { return Describe(inputs_); }
  nb::list Outputs() const { return Describe(outputs_); }
  nb::list Overridable() const { return Describe(constants_); }
  nb::list States() const;
  int64_t StateLength();
  void ResetStates();
  nb::object GetState(const std::string& name);
  void SetState(const std::string& name, nb::handle value);
  std::vector<std::string> Warnings();
  nb::dict Memory();
  const std::string& source() const { return model_.source; }
  const Graph& graph() const { return model_.session->graph(); }

  // Calls body(session) with a session whose inputs are bound, for measurements.
  using SessionBody = std::function<nb::object(Session&)>;
  nb::object WithInputs(nb::handle inputs, const SessionBody& body);

  // Runs `body` with a session that no other thread uses. Waits for one without the GIL.
  template <class F> auto WithSession(const Stop& stop, F&& body) {
    Lease lease(pool_, TakeSlot(stop));
    return body(*lease.operator->());
  }

 private:
  struct Job;
  void AddPorts();
  static nb::list Describe(const std::vector<Port>& ports);
  std::unique_ptr<Slot> TakeSlot(const Stop& stop);
  void FeedAny(nb::handle inputs, Job& job) const;
  static void BindInputs(Session& session, const Job& job);
  void FeedMapping(nb::handle dict, Job& job) const;
  void FeedSequence(nb::handle values, Job& job) const;
  void Feed(const Port& port, nb::handle value, Job& job) const;
  void CheckAllFed(Job& job) const;  // an optional input without a value gets None
  void ChooseOutputs(nb::handle outputs, nb::handle out, Job& job) const;
  nb::object Execute(Job& job, const RunSettings& settings);
  void BindLarge(Slot& slot, Session& session, Job& job) const;
  nb::object Collect(Slot& slot, Session& session, Job& job) const;

  LoadedModel model_;
  Pool pool_;
  std::vector<Port> inputs_, outputs_, constants_;
};

}  // namespace tern::python
