#include "import/torch/operators.h"

#include <set>

#include "import/torch/aten/converter.h"

namespace tern::torch {
namespace {

constexpr const char* kOperators[] = {
#define TERN_ATEN_OPERATOR(name) "aten::" #name,
#include "import/torch/operators.inc"
#undef TERN_ATEN_OPERATOR
};

}  // namespace

std::vector<load::Operator> Operators() {
  std::set<std::string> imported;
  for (const std::string& name : Converters().Names()) imported.insert(name.substr(0, name.find('.')));
  std::vector<load::Operator> out;
  for (const char* name : kOperators) out.push_back({name, imported.erase(name) > 0});
  for (const std::string& name : imported) out.push_back({name, true});
  return out;
}

}  // namespace tern::torch
