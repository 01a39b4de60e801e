// One case of the ONNX backend suite: a model, its stored data, and how closely results must agree.
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
  std::filesystem::path light_output;     // light models: the one stored output; the input is 0/n, 1/n, …
  data::Tolerance tolerance{1e-3, 1e-7};  // the suite's default
};

std::vector<SuiteCase> FindCases(const std::filesystem::path& data);

struct RunOptions {
  bool reference = false;     // on the reference evaluators, node by node, instead of a session
  bool random = false;        // results are random: only kind, type and dims are compared
  bool through_onnx = false;  // exported to ONNX and imported again first
  bool optimize = false;      // as models run by default: at level extended
};
// Empty when every data set gives the stored results.
std::string RunCase(const SuiteCase& c, const RunOptions& options);

}  // namespace tern
