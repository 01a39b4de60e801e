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
// If the target finds an error, it aborts the program. The last line of the output is then "RUN" and the name
// of the file.
inline int ReplayFolder(const std::filesystem::path& folder, const Target& target) {
  if (!std::filesystem::is_directory(folder)) return 0;
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    const std::string name = folder.filename().string() + "/" + entry.path().filename().string();
    std::printf("RUN %s\n", name.c_str());
    std::fflush(stdout);
    target(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
    std::printf("PASS %s\n", name.c_str());
    ++count;
  }
  return count;
}
