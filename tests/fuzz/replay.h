// Runs stored inputs through fuzz targets, in an ordinary build.
#pragma once
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

using Target = std::function<void(const uint8_t*, size_t)>;

// Runs the target on each file of `folder`. Returns the number of files, or 0 if the folder does not exist.
// If the target finds an error, it aborts the program.
inline int ReplayFolder(const std::filesystem::path& folder, const Target& target) {
  if (!std::filesystem::is_directory(folder)) return 0;
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    std::printf("PASS %s/%s\n", folder.filename().c_str(), entry.path().filename().c_str());
    std::fflush(stdout);
    target(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
    ++count;
  }
  return count;
}
