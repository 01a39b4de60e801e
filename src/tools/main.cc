// The `tern` command: finds the sub-command, runs it, turns errors into one paragraph and an exit code.
#include <CLI/CLI.hpp>

#include <csignal>
#include <cstdio>

#include "data/file.h"
#include "tools/tool.h"
#include "tools/units.h"

namespace tern::tools {
namespace {

constexpr int kBadUsage = 2;

std::vector<std::unique_ptr<Tool>> AllTools() {
  std::vector<std::unique_ptr<Tool>> tools;
  for (auto make : {MakeDemo, MakeRun, MakeInspect, MakeConvert, MakeOptimize, MakeVerify, MakeBench,
                    MakeDoctor, MakeOps, MakePasses})
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
  if (code.ok()) return *code;
  Complain(code.status().ToString());
  return kBadUsage;
}

int Main(int argc, char** argv) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, OnSignal);
  CLI::App app("Tern carries trained models to production: import, inspect, convert, run.", "tern");
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
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    Complain(std::string(e.what()) + "; see tern " +
             (argc > 1 && argv[1][0] != '-' ? std::string(argv[1]) + " " : "") + "--help");
    return kBadUsage;
  }
  return code;
}

}  // namespace
}  // namespace tern::tools

int main(int argc, char** argv) { return tern::tools::Main(argc, argv); }
