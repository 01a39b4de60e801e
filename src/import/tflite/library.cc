// The entry point of libtern_tflite.so, the importer of TensorFlow Lite models.
#include <set>

#include "import/tflite/graph_importer.h"
#include "load/importer.h"

namespace tern::tflite {

static Result<std::unique_ptr<Graph>> Read(const load::Source& source, load::ReadContext& context) {
  return Guard([&]() -> Result<std::unique_ptr<Graph>> {
    TERN_ASSIGN(const Model model, Model::Open(source));
    return ImportModel(model, context.signature);
  });
}

static std::vector<load::Operator> Operators() {
  constexpr const char* kNames[] = {
#define TERN_TFLITE_OPERATOR(number, name) #name,
#include "import/tflite/operators.inc"
#undef TERN_TFLITE_OPERATOR
  };
  std::set<std::string> imported;
  for (const std::string& name : Converters().Names()) imported.insert(name);
  std::vector<load::Operator> out;
  for (const char* name : kNames) out.push_back({name, imported.erase(name) > 0});
  for (const std::string& name : imported) out.push_back({name, true});
  return out;
}

}  // namespace tern::tflite

TERN_IMPORTER(tern::tflite::Read, tern::tflite::Operators)
