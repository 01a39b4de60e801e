// Runs a parsed template.
#pragma once
#include <map>

#include "server/generate/template/library.h"

namespace tern::server {

// Used once.
class TemplateEvaluator {
 public:
  explicit TemplateEvaluator(const TemplateValue& variables) : variables_(variables) {
    scopes_.emplace_back();
  }
  Status Run(const Statements& statements);
  std::string TakeOutput() { return std::move(out_); }

 private:
  enum class Jump { kNone, kBreak, kContinue };
  using Scope = std::map<std::string, TemplateValue>;

  Status RunOne(const Statement& statement);
  Status RunIf(const Statement& statement);
  Status RunFor(const Statement& statement);
  Status RunLoop(const Statement& statement, const ValueList& elements);
  Status RunSet(const Statement& statement);
  // Runs statements in a scope of their own and returns their output.
  Result<std::string> Captured(const Statements& statements);
  static Status Unpack(const Statement& statement, const TemplateValue& element, Scope& scope);

  Result<TemplateValue> Evaluate(const Expression& e);
  Result<TemplateValue> EvaluateHere(const Expression& e);
  Result<TemplateValue> EvaluateBinary(const Expression& e);
  Result<TemplateValue> EvaluateUnary(const Expression& e);
  Result<TemplateValue> EvaluateSlice(const Expression& e);
  Result<TemplateValue> CallMacro(const Statement& macro, const TemplateArguments& arguments);
  Result<TemplateArguments> ArgumentsOf(const Expression& e);
  TemplateValue Find(const std::string& name) const;
  Status Write(std::string_view text);

  const TemplateValue variables_;
  std::vector<Scope> scopes_;  // the innermost last
  size_t bottom_ = 0;          // a macro sees only the first scope and the scopes from this one on
  std::map<std::string, const Statement*> macros_;
  std::string out_;
  Jump jump_ = Jump::kNone;
  int64_t steps_ = 0;
  int macro_depth_ = 0;
};

}  // namespace tern::server
