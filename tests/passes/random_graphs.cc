// tern_random_graphs FOLDER [--seed S] [--count N] [--print] optimises random graphs and checks the
// optimizer's guarantees. Some graphs are derived from the .rule files in FOLDER. If a graph fails, the
// program prints the seed, the graph, a reduced graph that still fails, and the responsible rules.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>

#include "check_graph.h"
#include "ir/text.h"
#include "ops/ops.h"
#include "passes/rewrite/rule.h"
#include "random_graph.h"
#include "rule_file.h"

namespace fs = std::filesystem;
using namespace tern;

namespace {

struct Arguments {
  std::string folder;
  uint64_t seed = 1;
  int count = 300;
  bool print = false;
};

bool Read(int argc, char** argv, Arguments& a) {
  if (argc < 2) return false;
  a.folder = argv[1];
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--print")
      a.print = true;
    else if (word == "--seed" && i + 1 < argc)
      a.seed = std::strtoull(argv[++i], nullptr, 10);
    else if (word == "--count" && i + 1 < argc)
      a.count = std::atoi(argv[++i]);
    else
      return false;
  }
  return true;
}

std::vector<SeedGraph> ReadSeeds(const std::string& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".rule") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<SeedGraph> seeds;
  for (const fs::path& file : files) {
    auto cases = ReadRuleFile(file.string());
    for (size_t i = 0; cases.ok() && i < cases->size(); ++i)
      seeds.push_back({(*cases)[i].graph, (*cases)[i].symbols});
  }
  return seeds;
}

void Explain(uint64_t seed, const RandomGraph& made, const CheckOptions& options, const Fault& fault) {
  std::string culprits;
  for (const std::string& name : Culprits(*made.graph, options, fault)) culprits += " " + name;
  std::printf("FAIL --seed %llu --count 1 at level %s: %s\n  the fault disappears without:%s\n",
              static_cast<unsigned long long>(seed), LevelName(fault.level), fault.what.c_str(),
              culprits.empty() ? " (no single rule)" : culprits.c_str());
  const auto small = ShrinkGraph(*made.graph, options, fault);
  std::printf("reduced graph: %s\n%s\nfull graph:\n%s\n", CheckGraph(*small, options).what.c_str(),
              PrintGraph(*small).c_str(), PrintGraph(*made.graph).c_str());
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (!Read(argc, argv, arguments)) {
    std::fprintf(stderr, "usage: tern_random_graphs FOLDER [--seed S] [--count N] [--print]\n");
    return 2;
  }
  InitOps();
  const auto seeds = ReadSeeds(arguments.folder);
  std::set<std::string> fired;
  int passed = 0, failed = 0, idle = 0, nodes = 0, runs = 0;
  for (int i = 0; i < arguments.count; ++i) {
    const uint64_t seed = arguments.seed + static_cast<uint64_t>(i);
    const RandomGraph made = MakeRandomGraph(seed, seeds);
    if (arguments.print) std::printf("%s\n", PrintGraph(*made.graph).c_str());
    CheckOptions options;
    options.symbols = made.symbols;
    int compared = 0;
    const Fault fault = CheckGraph(*made.graph, options, &compared);
    ++(fault ? failed : passed);
    fired.insert(fault.fired.begin(), fault.fired.end());
    idle += compared == 0;
    nodes += made.graph->NodeCount();
    runs += compared;
    if (fault) Explain(seed, made, options, fault);
  }
  if (idle * 20 > arguments.count) {
    std::printf("FAIL %d of %d graphs do not run\n", idle, arguments.count);
    ++failed;
  }
  if (arguments.print)
    for (const Rule* rule : AllRules())
      if (!fired.count(rule->name)) std::printf("never fired: %s\n", rule->name.c_str());
  std::printf("%d nodes, %d data sets, %d graphs that do not run, %zu rules and passes fired\n", nodes, runs,
              idle, fired.size());
  std::printf("%d passed, %d failed, 0 skipped\n", passed, failed);
  return failed || !passed;
}
