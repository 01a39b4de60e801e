#include "import/caffe/operators.h"

#include <set>

#include "import/caffe/converter.h"

namespace tern::caffe {

std::vector<load::Operator> Operators() {
  static constexpr const char* kTypes[] = {
#define TERN_CAFFE_LAYER(type) #type,
#include "import/caffe/operators.inc"
#undef TERN_CAFFE_LAYER
  };
  std::set<std::string> imported;
  for (const std::string& name : Converters().Names()) imported.insert(name);
  std::vector<load::Operator> out;
  for (const char* type : kTypes) out.push_back({type, imported.erase(type) > 0});
  for (const std::string& name : imported) out.push_back({name, true});
  return out;
}

}  // namespace tern::caffe
