// One case of the ONNX backend suite: a model, its stored data, and the tolerance of results.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "data/compare.h"

namespace tern {

struct SuiteCase {
  std::string kind;  // node, simple, pytorch-operator, pytorch-converted, light
  std::string name;
  std::filesystem::path model;
  std::vector<std::filesystem::path> data_sets;  // folders with input_K.pb and output_K.pb
  std::filesystem::path light_output;            // the stored output of a light model; otherwise empty
  data::Tolerance tolerance{1e-3, 1e-7};         // the suite's default
};

std::vector<SuiteCase> FindCases(const std::filesystem::path& data);

struct RunOptions {
  bool reference = false;     // runs the reference evaluator instead of a session
  bool random = false;        // compares only kind, type and dims, because the results are random
  bool through_onnx = false;  // first exports the model to ONNX and imports it again
  bool optimize = false;      // optimizes at level layout, which is the default of the command line
};
// Returns an empty string if the results for all data sets agree with the stored ones. Otherwise returns a
// message.
std::string RunCase(const SuiteCase& c, const RunOptions& options);

}  // namespace tern
