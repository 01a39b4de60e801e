#include "import/torch/script/code.h"

#include <algorithm>

#include "import/torch/script/parser.h"

namespace tern::torch::script {
namespace {

// "__torch__.a.b.C" is C of the file code/__torch__/a/b.py.
bool Split(const std::string& name, std::string& file, std::string& member) {
  const size_t dot = name.rfind('.');
  if (dot == std::string::npos) return false;
  file = name.substr(0, dot);
  member = name.substr(dot + 1);
  std::replace(file.begin(), file.end(), '.', '/');
  file = StrCat("code/", file, ".py");
  return true;
}

}  // namespace

Result<const Unit*> Code::UnitOf(const std::string& file) {
  const auto found = units_.find(file);
  if (found != units_.end()) return static_cast<const Unit*>(found->second.get());
  if (!archive_.Has(file)) {
    units_[file] = nullptr;
    return static_cast<const Unit*>(nullptr);
  }
  TERN_ASSIGN(const std::string text, archive_.ReadText(file));
  auto unit = Parse(text);
  if (!unit.ok()) return unit.TakeStatus().While(StrCat("reading ", file));
  auto& place = units_[file];
  place = std::make_unique<Unit>(std::move(*unit));
  return static_cast<const Unit*>(place.get());
}

Result<const Class*> Code::FindClass(const std::string& name) {
  std::string file, member;
  if (!Split(name, file, member)) return static_cast<const Class*>(nullptr);
  TERN_ASSIGN(const Unit* unit, UnitOf(file));
  for (size_t i = 0; unit && i < unit->classes.size(); ++i)
    if (unit->classes[i]->name == member) return static_cast<const Class*>(unit->classes[i].get());
  return static_cast<const Class*>(nullptr);
}

Result<const Function*> Code::FindFunction(const std::string& name) {
  std::string file, member;
  if (!Split(name, file, member)) return static_cast<const Function*>(nullptr);
  TERN_ASSIGN(const Unit* unit, UnitOf(file));
  for (size_t i = 0; unit && i < unit->functions.size(); ++i)
    if (unit->functions[i]->name == member) return static_cast<const Function*>(unit->functions[i].get());
  return static_cast<const Function*>(nullptr);
}

const Function* Code::MethodOf(const Class& type, const std::string& name) {
  for (const auto& method : type.methods)
    if (method->name == name) return method.get();
  return nullptr;
}

}  // namespace tern::torch::script
