// Lists which ONNX operators the importer supports.
#pragma once
#include <string>
#include <vector>

namespace tern::tools {

struct OnnxOperator {
  std::string domain, name;  // the domain "" means ai.onnx
  bool imported = false;
};

// Returns all operators that ONNX defines, followed by the operators of other domains that Tern imports. Each
// of the two groups is sorted by domain and name.
std::vector<OnnxOperator> OnnxCoverage();

}  // namespace tern::tools
