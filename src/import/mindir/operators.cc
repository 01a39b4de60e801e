#include "import/mindir/operators.h"

#include <set>

#include "import/mindir/converter.h"

namespace tern::mindir {
namespace {

constexpr const char* kPrimitives[] = {
#define TERN_MINDIR_PRIMITIVE(name) #name,
#include "import/mindir/operators_a_l.inc"
#include "import/mindir/operators_m_z.inc"
#undef TERN_MINDIR_PRIMITIVE
};

}  // namespace

std::vector<load::Operator> Operators() {
  std::set<std::string> names(std::begin(kPrimitives), std::end(kPrimitives)), imported;
  for (const std::string& name : Converters().Names()) imported.insert(name);
  names.insert(imported.begin(), imported.end());
  std::vector<load::Operator> out;
  for (const std::string& name : names) out.push_back({name, imported.count(name) > 0});
  return out;
}

}  // namespace tern::mindir
