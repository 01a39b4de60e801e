// Times of runs and of their nodes.
#pragma once
#include <nanobind/nanobind.h>

namespace tern::python {

void AddMeasurements(nanobind::module_& m);

}  // namespace tern::python
