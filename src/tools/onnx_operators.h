// Which of ONNX's operators the importer knows.
#pragma once
#include <string>
#include <vector>

namespace tern::tools {

struct OnnxOperator {
  std::string domain, name;  // domain "": ai.onnx
  bool imported = false;
};

// All that ONNX defines, then those of other domains that are imported; by domain and name.
std::vector<OnnxOperator> OnnxCoverage();

}  // namespace tern::tools
