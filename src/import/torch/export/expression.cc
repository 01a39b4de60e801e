#include "import/torch/export/expression.h"

#include <cctype>
#include <vector>

#include "base/strings.h"

namespace tern::torch {
namespace {

constexpr int kMaxDepth = 64;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}
  Dim All() {
    Dim d = Sum(0);
    Space();
    return ok_ && text_.empty() ? d : Dim();
  }

 private:
  void Space() {
    while (!text_.empty() && text_[0] == ' ') text_.remove_prefix(1);
  }
  bool Take(std::string_view token) {
    Space();
    if (!StartsWith(text_, token)) return false;
    text_.remove_prefix(token.size());
    return true;
  }
  Dim Fail() {
    ok_ = false;
    text_ = {};
    return {};
  }
  std::string Name() {
    size_t n = 0;
    while (n < text_.size() && (isalnum(static_cast<unsigned char>(text_[n])) || text_[n] == '_')) ++n;
    std::string name(text_.substr(0, n));
    text_.remove_prefix(n);
    return name;
  }

  Dim Sum(int depth) {
    if (depth > kMaxDepth) return Fail();
    Dim d = Product(depth + 1);
    while (ok_) {
      if (Take("+"))
        d = d + Product(depth + 1);
      else if (Take("-"))
        d = d - Product(depth + 1);
      else
        break;
    }
    return d;
  }
  Dim Product(int depth) {
    Dim d = Power(depth);
    while (ok_) {
      if (Take("//"))
        d = FloorDiv(d, Power(depth));
      else if (Take("*"))
        d = d * Power(depth);
      else if (Take("%"))
        d = Mod(d, Power(depth));
      else
        break;
    }
    return d;
  }
  Dim Power(int depth) {
    Dim d = Atom(depth);
    if (!Take("**")) return d;
    return Raise(d, Atom(depth));
  }
  Dim Raise(const Dim& base, const Dim& exponent) {
    if (!exponent.known() || exponent.value() < 0 || exponent.value() > 8) return Fail();
    Dim d(1);
    for (int64_t i = 0; i < exponent.value(); ++i) d = d * base;
    return d;
  }
  Dim Atom(int depth) {
    if (depth > kMaxDepth) return Fail();
    Space();
    if (text_.empty()) return Fail();
    if (Take("(")) {
      Dim d = Sum(depth + 1);
      return Take(")") ? d : Fail();
    }
    if (Take("-")) return Dim(0) - Power(depth + 1);
    if (isdigit(static_cast<unsigned char>(text_[0]))) {
      int64_t v = 0;
      return ParseInt(Name(), v) ? Dim(v) : Fail();
    }
    const std::string name = Name();
    if (name.empty()) return Fail();
    if (!Take("(")) return Dim::Symbol(name);
    return Function(name, depth + 1);
  }
  // Reads the rest of "Symbol('s0', positive=True)" or "Integer(-2)" after the parenthesis.
  Dim SymbolRest() {
    if (!Take("'")) return Fail();
    const std::string name = Name();
    if (name.empty() || !Take("'")) return Fail();
    const size_t close = text_.find(')');
    if (close == std::string_view::npos) return Fail();
    text_.remove_prefix(close + 1);
    return Dim::Symbol(name);
  }
  Dim Function(const std::string& name, int depth) {
    if (name == "Symbol") return SymbolRest();
    std::vector<Dim> args;
    while (ok_ && !Take(")")) {
      args.push_back(Sum(depth + 1));
      if (!Take(",") && !StartsWith(text_, ")")) return Fail();
    }
    if (!ok_ || args.empty()) return Fail();
    if (name == "Integer") return args[0];
    const bool two = args.size() == 2;
    if (two && (name == "FloorDiv" || name == "CleanDiv")) return FloorDiv(args[0], args[1]);
    if (two && (name == "Mod" || name == "PythonMod")) return Mod(args[0], args[1]);
    if (two && name == "CeilDiv") return CeilDiv(args[0], args[1]);
    if (two && (name == "Pow" || name == "PowByNatural")) return Raise(args[0], args[1]);
    if (name != "Add" && name != "Mul" && name != "Max" && name != "Min") return Fail();
    Dim d = args[0];
    for (size_t i = 1; i < args.size(); ++i) {
      if (name == "Add")
        d = d + args[i];
      else if (name == "Mul")
        d = d * args[i];
      else if (name == "Max")
        d = Max(d, args[i]);
      else
        d = Min(d, args[i]);
    }
    return d;
  }

  std::string_view text_;
  bool ok_ = true;
};

}  // namespace

Dim ParseExpression(std::string_view text) { return text.size() > 4096 ? Dim() : Parser(text).All(); }

bool OnlyUses(const Dim& dim, const std::set<std::string>& symbols) {
  std::vector<std::string> used;
  dim.CollectSymbols(used);
  for (const std::string& s : used)
    if (!symbols.count(s)) return false;
  return true;
}

}  // namespace tern::torch
