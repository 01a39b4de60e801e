// The code of a TorchScript file: classes and functions by their qualified names, such as
// "__torch__.torch.nn.modules.linear.Linear".
#pragma once
#include <map>
#include <memory>
#include <string>

#include "import/torch/archive.h"
#include "import/torch/script/ast.h"

namespace tern::torch::script {

class Code {
 public:
  explicit Code(const Archive& archive) : archive_(archive) {}

  // Return null if the file has no such class or function. Fail if the code cannot be parsed.
  Result<const Class*> FindClass(const std::string& name);
  Result<const Function*> FindFunction(const std::string& name);
  static const Function* MethodOf(const Class& type, const std::string& name);

 private:
  Result<const Unit*> UnitOf(const std::string& file);

  const Archive& archive_;
  std::map<std::string, std::unique_ptr<Unit>> units_;  // by file; null if the archive has no such file
};

}  // namespace tern::torch::script
