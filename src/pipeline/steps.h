// Parses and checks the steps of a pipeline.
#pragma once
#include "pipeline/spec.h"
#include "pipeline/yaml_reader.h"

namespace tern::pipeline {

// A row of a table of steps: the name, and the function that reads its options.
template <class Step> struct StepRow {
  const char* name;
  Status (*read)(const YamlValue& options, Step& step);
};
// Reads the options of a step with the row of its name. Fails if there is no such row, and lists all names.
template <class Step, size_t kCount>
Status ReadWith(const StepRow<Step> (&rows)[kCount], const YamlValue& options, Step& step) {
  std::vector<std::string> names;
  for (const StepRow<Step>& row : rows) {
    if (step.name == row.name) return row.read(options, step);
    names.push_back(row.name);
  }
  return options.Unknown("step", step.name, names);
}

// Reads the options of a step. step.name and step.line are set. `options` is null if there are none.
Status ReadInputStep(const YamlValue& options, InputStep& step);
Status ReadOutputStep(const YamlValue& options, OutputStep& step);

// Checks the order of all steps. For example, crop must follow decode_image.
Status CheckSteps(const Spec& spec);

}  // namespace tern::pipeline
