// The extension module tern._tern.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/python/describe.h"
#include "bindings/python/graph.h"
#include "bindings/python/measure.h"
#include "bindings/python/predictor.h"

namespace tern::python {
namespace {

nb::object Run(Predictor& p, nb::handle inputs, nb::handle outputs, nb::handle out,
               std::optional<double> timeout, const Cancel* cancel, const std::string& tag) {
  return p.Run(inputs, outputs, out, {timeout.value_or(0), cancel, tag});
}

void AddPredictor(nb::module_& m) {
  nb::class_<Cancel>(m, "Cancel",
                     "A flag that ends runs early. Pass it to Predictor.run; any thread may set it.")
      .def(nb::init<>())
      .def("set", &Cancel::Set, "Ends the runs that use this flag, as soon as their current step is done.")
      .def("clear", &Cancel::Clear, "Resets the flag, so that it may be used for another run.")
      .def("is_set", &Cancel::IsSet, "Returns whether set was called.");
  nb::class_<Predictor>(m, "Predictor")
      .def(nb::init<nb::handle, nb::dict>(), nb::arg("model").none(), nb::arg("options"))
      .def(nb::init<const Predictor&>(), nb::arg("other"))
      .def("__call__", &Predictor::Call)
      .def(
          "run", &Run, nb::arg("inputs"), nb::arg("outputs").none() = nb::none(), nb::kw_only(),
          nb::arg("out").none() = nb::none(), nb::arg("timeout") = nb::none(), nb::arg("cancel") = nb::none(),
          nb::arg("tag") = "",
          "Runs the model and returns an Outputs. `inputs` is a dict, a list in the order of the inputs, one array or a "
          "data frame. `outputs` are the names of the wanted outputs. `out` is a dict from names to arrays that the run "
          "writes. `timeout` is in seconds. `cancel` is a Cancel. `tag` is part of error messages.")
      .def("_inputs", &Predictor::Inputs)
      .def("_outputs", &Predictor::Outputs)
      .def("_overridable", &Predictor::Overridable)
      .def("_states", &Predictor::States)
      .def("state_length", &Predictor::StateLength,
           "Returns the current length of the growing states, such as the number of tokens so far.")
      .def("reset_states", &Predictor::ResetStates, "Makes growing states empty and sets the others to zero.")
      .def("get_state", &Predictor::GetState, nb::arg("name"), "Returns a copy of a state.")
      .def("set_state", &Predictor::SetState, nb::arg("name"), nb::arg("value"),
           "Sets a state to a copy of the value.")
      .def("warnings", &Predictor::Warnings,
           "Returns warnings of the import and of the runs so far, one sentence each.")
      .def("memory", &Predictor::Memory,
           "Returns the bytes of weights, packed weights and intermediate values as a dict.")
      .def(
          "metadata", [](const Predictor& p) { return DescribeMetadata(p.graph()); },
          "Returns what the file says about itself, as a dict of texts.")
      .def_prop_ro("_graph_name", [](const Predictor& p) { return p.graph().name; })
      .def_prop_ro("source", &Predictor::source,
                   "The path of the model; empty if it was loaded from memory.");
}

}  // namespace
}  // namespace tern::python

NB_MODULE(_tern, m) {
  // Objects in caches of other packages, such as torch, live until the process ends.
  nanobind::set_leak_warnings(false);
  m.attr("__version__") = TERN_VERSION;
  tern::python::AddPredictor(m);
  tern::python::AddGraphClasses(m);
  tern::python::AddMeasurements(m);
}
