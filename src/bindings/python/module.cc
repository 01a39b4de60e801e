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
      .def("run", &Run, nb::arg("inputs"), nb::arg("outputs").none() = nb::none(), nb::kw_only(),
           nb::arg("out").none() = nb::none(), nb::arg("timeout") = nb::none(),
           nb::arg("cancel") = nb::none(), nb::arg("tag") = "")
      .def("_inputs", &Predictor::Inputs)
      .def("_outputs", &Predictor::Outputs)
      .def("_overridable", &Predictor::Overridable)
      .def("_states", &Predictor::States)
      .def("state_length", &Predictor::StateLength)
      .def("reset_states", &Predictor::ResetStates)
      .def("get_state", &Predictor::GetState, nb::arg("name"))
      .def("set_state", &Predictor::SetState, nb::arg("name"), nb::arg("value"))
      .def("warnings", &Predictor::Warnings)
      .def("memory", &Predictor::Memory)
      .def(
          "metadata", [](const Predictor& p) { return DescribeMetadata(p.graph()); },
          "Returns what the file says about itself, as a dict of texts.")
      .def_prop_ro("_graph_name", [](const Predictor& p) { return p.graph().name; })
      .def_prop_ro("source", &Predictor::source);
}

}  // namespace
}  // namespace tern::python

NB_MODULE(_tern, m) {
  m.attr("__version__") = TERN_VERSION;
  tern::python::AddPredictor(m);
  tern::python::AddGraphClasses(m);
  tern::python::AddMeasurements(m);
}
