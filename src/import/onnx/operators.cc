#include "import/onnx/operators.h"

#include <set>

#include "import/onnx/importer.h"

namespace tern::onnx {
namespace {

struct OperatorRow {
  const char *domain, *name;
};
constexpr OperatorRow kOperators[] = {
#define TERN_ONNX_OPERATOR(domain, name) {domain, #name},
#include "import/onnx/operators.inc"
#undef TERN_ONNX_OPERATOR
};

}  // namespace

std::vector<load::Operator> Operators() {
  std::set<std::string> imported;
  for (const std::string& name : SupportedOperators()) imported.insert(name);
  std::vector<load::Operator> out;
  for (const OperatorRow& row : kOperators) {
    const std::string name = *row.domain ? StrCat(row.domain, ".", row.name) : row.name;
    out.push_back({name, imported.erase(name) > 0});
  }
  for (const std::string& name : imported) out.push_back({name, true});
  return out;
}

}  // namespace tern::onnx
