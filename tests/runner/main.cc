// tern_cases FOLDER [--only TEXT] runs every .case file below the folder. With --only, it runs only the cases
// whose path or name contains TEXT, and counts the others as skipped. The name of a case is its place, op,
// attributes and operands, as in "relu.case:7 Unary {kind="relu"}".
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "case_file.h"
#include "case_runner.h"
#include "generate/generate.h"

namespace fs = std::filesystem;
using namespace tern;

namespace {

struct Tally {
  int passed = 0, failed = 0, skipped = 0;
};

std::string NameOf(const Case& c) {
  return StrCat(c.place, " ", c.op, c.attrs.empty() ? "" : " {" + c.attrs + "}",
                c.operands.empty() ? "" : " : " + c.operands);
}

void RunFile(const fs::path& file, const std::string& only, Tally& tally) {
  const bool whole = file.string().find(only) != std::string::npos;
  auto cases = ReadCases(file.string());
  if (!cases.ok()) {
    ++tally.failed;
    std::printf("FAIL %s\n", cases.status().message().c_str());
    return;
  }
  for (const Case& c : *cases) {
    const std::string name = NameOf(c);
    if (!whole && name.find(only) == std::string::npos) {
      ++tally.skipped;
      continue;
    }
    const std::string error = RunCase(c);
    ++(error.empty() ? tally.passed : tally.failed);
    if (!error.empty()) std::printf("FAIL %s: %s\n", name.c_str(), error.c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool filtered = argc == 4 && !std::strcmp(argv[2], "--only");
  if (argc != 2 && !filtered) {
    std::fprintf(stderr, "usage: tern_cases FOLDER [--only TEXT]\n");
    return 2;
  }
  InitGenerate();
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(argv[1]))
    if (entry.path().extension() == ".case") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  Tally tally;
  for (const fs::path& file : files) RunFile(file, filtered ? argv[3] : "", tally);
  std::printf("%d passed, %d failed, %d skipped\n", tally.passed, tally.failed, tally.skipped);
  return tally.failed || !tally.passed;
}
