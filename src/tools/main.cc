// The `tern` command: finds the sub-command, runs it, turns errors into one paragraph and an exit code.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>

#include "data/file.h"
#include "tools/tool.h"
#include "tools/units.h"

namespace tern::tools {
namespace {

constexpr int kBadUsage = 2;

std::vector<std::unique_ptr<Tool>> AllTools() {
  std::vector<std::unique_ptr<Tool>> tools;
  for (auto make : {MakeDemo, MakeRun, MakeInspect, MakeConvert, MakeOptimize, MakeVerify, MakeBench,
                    MakeProfile, MakeDoctor, MakeOps, MakePasses})
    tools.push_back(make());
  return tools;
}

extern "C" void OnSignal(int signal) {
  data::RemovePendingFiles();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void Complain(const std::string& text) { std::fprintf(stderr, "tern: %s\n", Printable(text).c_str()); }

int RunTool(Tool& tool, const Args& args) {
  Result<int> code = Guard([&] { return tool.Run(args); });
  if (std::ferror(stdout)) return kBadUsage;  // Main says so; what it led to is no news
  if (code.ok()) return *code;
  Complain(code.status().ToString());
  return kBadUsage;
}

// A list of results on a full disk is no result.
int Finish(int code) {
  std::cout.flush();
  errno = 0;
  if (std::fflush(stdout) == 0 && !std::ferror(stdout) && std::cout) return code;
  Complain(StrCat("i/o error: cannot write to stdout", errno ? ": " : "", errno ? std::strerror(errno) : ""));
  return kBadUsage;
}

// The parser shows a list of words as MODEL...; the first is the model, the others are NAME=FILE.
class HelpFormat : public CLI::Formatter {
 public:
  std::string make_option_usage(const CLI::Option* option) const override { return option->get_name(true); }
};

std::string Names(const std::vector<std::unique_ptr<Tool>>& tools) {
  std::vector<std::string> names;
  for (const auto& tool : tools) names.emplace_back(tool->name());
  return Join(names, ", ");
}

bool IsCommand(const std::vector<std::unique_ptr<Tool>>& tools, const std::string& word) {
  return std::any_of(tools.begin(), tools.end(), [&](const auto& tool) { return tool->name() == word; });
}

int Parse(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    Complain(std::string(e.what()) + "; see tern " +
             (argc > 1 && argv[1][0] != '-' ? std::string(argv[1]) + " " : "") + "--help");
    return kBadUsage;
  }
  return 0;
}

int Main(int argc, char** argv) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, OnSignal);
  CLI::App app("Tern carries trained models to production: import, inspect, convert, run.", "tern");
  app.formatter(std::make_shared<HelpFormat>());
  app.require_subcommand(1);
  app.set_version_flag("--version", "tern " TERN_VERSION);
  int code = 0;
  const auto tools = AllTools();
  for (const auto& tool : tools) {
    CLI::App* sub = app.add_subcommand(tool->name(), tool->summary());
    sub->footer(std::string("\nexamples:\n") + tool->examples());
    Args args(*sub);
    tool->Declare(args);
    sub->callback([&code, sub, t = tool.get()] { code = RunTool(*t, Args(*sub)); });
  }
  const std::string word = argc > 1 ? argv[1] : "";
  if (word.empty() || (word[0] != '-' && !IsCommand(tools, word))) {
    Complain(StrCat(word.empty() ? "no command" : StrCat("unknown command '", word, "'"),
                    "; the commands are: ", Names(tools), "; see tern --help"));
    return kBadUsage;
  }
  const int parsed = Parse(app, argc, argv);
  return Finish(parsed ? parsed : code);
}

}  // namespace
}  // namespace tern::tools

int main(int argc, char** argv) { return tern::tools::Main(argc, argv); }
