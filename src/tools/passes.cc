// tern passes: lists the optimizer's passes and rules.
#include <fmt/core.h>

#include "data/json_writer.h"
#include "passes/pipeline.h"
#include "tools/pass_docs.h"
#include "tools/tool.h"

namespace tern::tools {
namespace {

class PassesTool : public Tool {
 public:
  const char* name() const override { return "passes"; }
  const char* summary() const override { return "list the optimizer's passes and rules"; }
  const char* examples() const override {
    return "  tern passes\n"
           "  tern passes --json\n"
           "  tern passes --markdown > docs/reference/passes.md\n";
  }
  void Declare(Args& args) override {
    args.Flag("--markdown", markdown_, "print the full reference as Markdown, with pictures");
    args.Flag("--json", json_, "print one JSON object");
  }
  Result<int> Run(const Args&) override {
    if (json_) {
      PrintJson();
    } else if (markdown_) {
      TERN_ASSIGN(const std::string text, PassesMarkdown());
      fmt::print("{}", text);
    } else {
      Print();
    }
    return 0;
  }

 private:
  static void Print() {
    constexpr const char* kRow = "{:<11} {:<38} {:<9} {}\n";
    fmt::print(kRow, "group", "name", "level", "what it does");
    for (const Pass& pass : AllPasses())
      fmt::print(kRow, "pass", pass.name, LevelName(pass.level), pass.summary);
    for (const Rule* rule : AllRules())
      fmt::print(kRow, rule->group, rule->name, rule->on_request ? "request" : LevelName(rule->level),
                 rule->summary);
    fmt::print("\n{} passes, {} rules; stages: {}\n", AllPasses().size(), AllRules().size(),
               Join(StageNames(), ", "));
  }

  static void PrintJson() {
    data::JsonWriter json;
    json.BeginObject().Key("stages").BeginArray();
    for (const std::string& stage : StageNames()) json.Text(stage);
    json.EndArray().Key("passes").BeginArray();
    const auto row = [&](const std::string& group, const std::string& id, Level level,
                         const std::string& summary) {
      json.BeginObject().Key("id").Text(id).Key("group").Text(group).Key("level").Text(LevelName(level));
      json.Key("summary").Text(summary).EndObject();
    };
    for (const Pass& pass : AllPasses()) row("pass", pass.name, pass.level, pass.summary);
    for (const Rule* rule : AllRules()) row(rule->group, rule->name, rule->level, rule->summary);
    json.EndArray().EndObject();
    fmt::print("{}\n", json.text());
  }

  bool json_ = false, markdown_ = false;
};

}  // namespace

TERN_TOOL(Passes) { return std::make_unique<PassesTool>(); }

}  // namespace tern::tools
