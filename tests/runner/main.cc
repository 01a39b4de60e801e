// tern_cases FOLDER [--only TEXT]: runs every .case file below the folder, each case on every engine.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "case_file.h"
#include "case_runner.h"
#include "ops/ops.h"

namespace fs = std::filesystem;
using namespace tern;

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: tern_cases FOLDER [--only TEXT]\n");
    return 2;
  }
  InitOps();
  const std::string only = argc > 3 && !std::strcmp(argv[2], "--only") ? argv[3] : "";
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(argv[1]))
    if (entry.path().extension() == ".case" && entry.path().string().find(only) != std::string::npos)
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  int passed = 0, failed = 0;
  for (const fs::path& file : files) {
    auto cases = ReadCases(file.string());
    if (!cases.ok()) {
      ++failed;
      std::printf("FAIL %s\n", cases.status().message().c_str());
      continue;
    }
    for (const Case& c : *cases) {
      const std::string error = RunCase(c);
      ++(error.empty() ? passed : failed);
      if (!error.empty()) std::printf("FAIL %s %s: %s\n", c.place.c_str(), c.op.c_str(), error.c_str());
    }
  }
  std::printf("%d passed, %d failed, 0 skipped\n", passed, failed);
  return failed || !passed;
}
