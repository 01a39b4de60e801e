#include "import/torch/script/unsupported.h"

#include <deque>
#include <set>

#include "import/common/unsupported.h"
#include "import/torch/aten/call.h"
#include "import/torch/script/builtins.h"
#include "import/torch/script/dotted.h"

namespace tern::torch::script {
namespace {

// Operators of fast paths that the import does not take.
bool IsFastPath(const std::string& op) {
  return op == "aten::_native_multi_head_attention" || op == "aten::_transformer_encoder_layer_fwd" ||
         op.find("nested_tensor") != std::string::npos;
}

class Scanner {
 public:
  Scanner(Code& code, import::UnsupportedOperators& found) : code_(code), found_(found) {}

  void Add(const Function& function, const std::string& name) {
    if (seen_.insert(&function).second) pending_.emplace_back(&function, name);
  }
  // Scans the functions that were added, and those that they name. A chain of calls may be as long as the
  // file permits, so this is not recursive.
  Status Scan() {
    while (!pending_.empty()) {
      const auto [function, name] = std::move(pending_.front());
      pending_.pop_front();
      TERN_TRY(ScanBlock(function->body, name));
    }
    return {};
  }

 private:
  Status ScanBlock(const Block& block, const std::string& name) {
    for (const auto& statement : block) {
      if (statement->value) TERN_TRY(ScanExpr(*statement->value, name));
      TERN_TRY(ScanBlock(statement->body, name));
      TERN_TRY(ScanBlock(statement->other, name));
      if (statement->function) TERN_TRY(ScanBlock(statement->function->body, name));
    }
    return {};
  }

  Status ScanExpr(const Expr& expr, const std::string& name) {
    for (const ExprPtr& item : expr.items)
      if (item) TERN_TRY(ScanExpr(*item, name));
    for (const auto& keyword : expr.keywords) TERN_TRY(ScanExpr(*keyword.second, name));
    if (expr.kind == Expr::Kind::kAttribute) return ScanFunction(DottedName(expr, {}));
    if (expr.kind != Expr::Kind::kCall) return {};
    const std::string op = OpOf(DottedName(*expr.items[0], {}));
    if (op.empty() || op == "aten::device" || Builtins().Find(op) || Supports(op) || IsFastPath(op))
      return {};
    found_.Add(op, StrCat(name, ", line ", expr.line));
    return {};
  }

  // A function of the file that the code names. It may be called through a variable.
  Status ScanFunction(const std::string& name) {
    if (!StartsWith(name, "__torch__.")) return {};
    TERN_ASSIGN(const Function* function, code_.FindFunction(name));
    if (function) Add(*function, name);
    return {};
  }

  Code& code_;
  import::UnsupportedOperators& found_;
  std::set<const Function*> seen_;
  std::deque<std::pair<const Function*, std::string>> pending_;
};

}  // namespace

Status ListUnsupported(Code& code, const std::map<const Function*, std::string>& called,
                       const std::string& op, const std::string& place) {
  import::UnsupportedOperators found;
  Scanner scanner(code, found);
  for (const auto& [function, name] : called) scanner.Add(*function, name);
  TERN_TRY(scanner.Scan());
  if (found.empty()) found.Add(op, place);
  return found.status();
}

}  // namespace tern::torch::script
