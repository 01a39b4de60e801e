#include "server/generate/template/chat_template.h"

#include "server/generate/template/evaluator.h"

namespace tern::server {
namespace {

constexpr size_t kMaxTemplateBytes = size_t{1} << 20;

class ParsedTemplate final : public ChatTemplate {
 public:
  explicit ParsedTemplate(Statements statements) : statements_(std::move(statements)) {}

  Result<std::string> Render(const TemplateValue& variables) const override {
    TemplateEvaluator evaluator(variables);
    TERN_TRY(evaluator.Run(statements_));
    return evaluator.TakeOutput();
  }

 private:
  const Statements statements_;
};

}  // namespace

Result<std::shared_ptr<const ChatTemplate>> ChatTemplate::Parse(std::string_view text) {
  if (text.size() > kMaxTemplateBytes)
    return InvalidModel("the template has ", text.size(), " bytes; the limit is ", kMaxTemplateBytes);
  TERN_ASSIGN(Statements statements, ParseTemplate(text));
  return std::shared_ptr<const ChatTemplate>(std::make_shared<ParsedTemplate>(std::move(statements)));
}

}  // namespace tern::server
