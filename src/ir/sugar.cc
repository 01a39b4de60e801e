#include "ir/sugar.h"

#include <cctype>

namespace tern {
namespace {

std::string SnakeCase(const std::string& name) {
  std::string out;
  for (char c : name) {
    if (std::isupper(static_cast<unsigned char>(c)) && !out.empty()) out += '_';
    out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

bool HasKind(const OpDef& op, const std::string& kind) {
  for (const auto& entry : op.defaults.List()) {
    if (entry.name != "kind") continue;
    for (const char* choice : entry.choices)
      if (kind == choice) return true;
  }
  return false;
}

}  // namespace

std::optional<OpMeaning> ResolveOp(const std::string& name) {
  if (const OpDef* op = FindOp(name)) return OpMeaning{op, ""};
  const std::string snake = SnakeCase(name);
  for (const OpDef* op : AllOps()) {
    if (!op->kind_prefix || !snake.starts_with(*op->kind_prefix)) continue;
    const std::string kind = snake.substr(op->kind_prefix->size());
    if (HasKind(*op, kind)) return OpMeaning{op, kind};
  }
  return std::nullopt;
}

}  // namespace tern
