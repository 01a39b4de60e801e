// Which ONNX operators the importer supports.
#pragma once
#include <string>
#include <vector>

namespace tern::tools {

struct OnnxOperator {
  std::string domain, name;  // domain "": ai.onnx
  bool imported = false;
};

// All operators that ONNX defines, then imported ones of other domains; sorted by domain and name.
std::vector<OnnxOperator> OnnxCoverage();

}  // namespace tern::tools
