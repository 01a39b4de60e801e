#include "tools/onnx_operators.h"

#include <set>

#include "import/onnx/importer.h"

namespace tern::tools {
namespace {

struct Row {
  const char *domain, *name;
};
constexpr Row kOperators[] = {
#define TERN_ONNX_OPERATOR(domain, name) {domain, #name},
#include "tools/onnx_operators.inc"
#undef TERN_ONNX_OPERATOR
};

std::string FullName(const std::string& domain, const std::string& name) {
  return domain.empty() ? name : domain + "." + name;
}

}  // namespace

std::vector<OnnxOperator> OnnxCoverage() {
  std::set<std::string> imported;
  for (const std::string& name : onnx::SupportedOperators()) imported.insert(name);
  std::vector<OnnxOperator> out;
  for (const Row& row : kOperators)
    out.push_back({row.domain, row.name, imported.erase(FullName(row.domain, row.name)) > 0});
  for (const std::string& name : imported) {
    const size_t dot = name.rfind('.');
    out.push_back({dot == std::string::npos ? "" : name.substr(0, dot),
                   name.substr(dot == std::string::npos ? 0 : dot + 1), true});
  }
  return out;
}

}  // namespace tern::tools
