// Runs the ONNX backend test data.
//   tern_onnx_suite DATA_DIR [--only REGEX] [--reference] [--through-onnx] [--optimize] [--expectations FILE]
// By default, cases run in a session. With --reference, they run on the reference evaluator. With
// --through-onnx, each model is first exported to ONNX and imported again. The expectations file lists cases
// that are skipped or have random results, each with a reason. The run fails if a skipped case passes, or if
// the file names a case that does not exist.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <regex>

#include "base/strings.h"
#include "generate/generate.h"
#include "suite_case.h"

using namespace tern;

namespace {

struct Expectation {
  std::string verdict;  // "skip" or "random"
  std::string reason;
  bool used = false;
};

// Reads lines `skip NAME reason…` and `random NAME reason…`. Lines that begin with # are comments.
std::map<std::string, Expectation> ReadExpectations(const std::string& path) {
  std::map<std::string, Expectation> out;
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    const auto words = SplitText(line, ' ');
    if (words.size() < 3 || words[0][0] == '#') continue;
    out[words[1]] = {words[0], line.substr(words[0].size() + words[1].size() + 2), false};
  }
  return out;
}

struct Arguments {
  std::string data, expectations;
  std::regex only{".*"};
  RunOptions run;
};

Arguments Read(int argc, char** argv) {
  Arguments a;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--reference")
      a.run.reference = true;
    else if (word == "--through-onnx")
      a.run.through_onnx = true;
    else if (word == "--optimize")
      a.run.optimize = true;
    else if (word == "--only" && i + 1 < argc)
      a.only = argv[++i];
    else if (word == "--expectations" && i + 1 < argc)
      a.expectations = argv[++i];
    else
      a.data = word;
  }
  return a;
}

}  // namespace

int main(int argc, char** argv) {
  InitGenerate();
  Arguments arguments = Read(argc, argv);
  auto expectations = ReadExpectations(arguments.expectations);
  const auto cases = FindCases(arguments.data);
  if (cases.empty()) {
    std::fprintf(
        stderr,
        "usage: tern_onnx_suite DATA_DIR [--only REGEX] [--reference] [--through-onnx] [--optimize] [--expectations FILE]\n");
    return 2;
  }
  int passed = 0, failed = 0, skipped = 0;
  for (const SuiteCase& c : cases) {
    auto expected = expectations.find(c.name);
    if (expected != expectations.end()) expected->second.used = true;
    if (!std::regex_search(c.name, arguments.only)) continue;
    const std::string verdict = expected == expectations.end() ? "" : expected->second.verdict;
    RunOptions options = arguments.run;
    options.random = verdict == "random";
    const std::string error = RunCase(c, options);
    if (verdict == "skip" && !error.empty()) {
      ++skipped;
      std::printf("SKIP %s/%s: %s\n", c.kind.c_str(), c.name.c_str(), expected->second.reason.c_str());
    } else if (verdict == "skip") {
      ++failed;
      std::printf("FAIL %s/%s: listed as skipped, but passes\n", c.kind.c_str(), c.name.c_str());
    } else {
      ++(error.empty() ? passed : failed);
      if (!error.empty()) std::printf("FAIL %s/%s: %s\n", c.kind.c_str(), c.name.c_str(), error.c_str());
    }
  }
  for (const auto& [name, expectation] : expectations) {
    if (expectation.used) continue;
    ++failed;
    std::printf("FAIL %s: listed in the expectations, but there is no such case\n", name.c_str());
  }
  std::printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
  return failed ? 1 : 0;
}
