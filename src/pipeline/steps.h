// Parses and checks the steps of a pipeline.
#pragma once
#include "pipeline/spec.h"
#include "pipeline/yaml_reader.h"

namespace tern::pipeline {

// Reads the options of a step. step.name and step.line are set. `options` is null if there are none.
Status ReadInputStep(const YamlValue& options, InputStep& step);
Status ReadOutputStep(const YamlValue& options, OutputStep& step);

// Checks the order of all steps. For example, crop must follow decode_image.
Status CheckSteps(const Spec& spec);

}  // namespace tern::pipeline
