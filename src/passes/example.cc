#include "passes/example.h"

#include "ir/text.h"
#include "ir/verify.h"
#include "passes/rewrite/driver.h"

namespace tern {

Result<RuleExample> RunExample(const Rule& rule) {
  const auto run = [&]() -> Result<RuleExample> {
    RuleExample example;
    TERN_ASSIGN(example.before, ParseGraph(rule.example));
    TERN_TRY(InferGraph(*example.before));
    example.after = example.before->Clone();
    PassContext context;
    context.only = {rule.name};
    context.why_rule = rule.name;
    context.SetBudget(100);
    TERN_ASSIGN(const int hits, ApplyRules(*example.after, RuleIndex({&rule}), context));
    if (hits == 0)
      return InvalidArgument("the rule does not fire: ", context.answers().empty()
                                                             ? "no node of the example is a root of the rule"
                                                             : context.answers()[0].reason);
    if (context.exhausted()) return InvalidArgument("the rule fires without end");
    example.after->RemoveDeadNodes();
    example.after->RemoveUnusedConstants();
    TERN_TRY(VerifyGraph(*example.after));
    TERN_TRY(InferGraph(*example.after));
    return example;
  };
  Result<RuleExample> result = Guard(run);
  if (!result.ok()) return result.TakeStatus().While(StrCat("running the example of rule '", rule.name, "'"));
  return result;
}

}  // namespace tern
