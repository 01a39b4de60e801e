#include "server/repository/golden.h"

#include <algorithm>
#include <filesystem>

#include "data/file.h"
#include "server/repository/config.h"
#include "server/repository/golden_file.h"
#include "server/repository/trial.h"

namespace tern::server {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxFiles = 10'000;
constexpr uint64_t kMaxGoldenFile = uint64_t{256} << 20;

// Returns the names of the golden files, relative to the model's folder, in order.
std::vector<std::string> GoldenFiles(const std::string& folder, const std::string& version) {
  std::vector<std::string> files;
  for (const std::string& part : {std::string("golden"), version + "/golden"}) {
    std::error_code error;
    std::vector<std::string> names;
    for (fs::directory_iterator it(folder + "/" + part, error), end; !error && it != end;
         it.increment(error)) {
      const fs::path name = it->path().filename();
      if (name.extension() == ".json" && name.string()[0] != '.') names.push_back(part + "/" + name.string());
    }
    std::sort(names.begin(), names.end());
    files.insert(files.end(), names.begin(), names.end());
  }
  return files;
}

Status Check(const GoldenRequest& golden, const std::vector<WireTensor>& outputs) {
  for (const WireTensor& expected : golden.outputs) {
    const auto found = std::find_if(outputs.begin(), outputs.end(),
                                    [&](const WireTensor& output) { return output.name == expected.name; });
    if (found == outputs.end()) return InvalidModel("the answer has no output '", expected.name, "'");
    const auto own = golden.of_output.find(expected.name);
    TERN_TRY(
        CompareTensors(expected, *found, own == golden.of_output.end() ? golden.tolerance : own->second));
  }
  return {};
}

Status RunFile(ModelVersion& version, const std::string& folder, const std::string& file,
               std::chrono::milliseconds limit) {
  TERN_ASSIGN(const std::string path, FileInside(folder, file));
  std::error_code error;
  if (fs::file_size(path, error) > kMaxGoldenFile || error)
    return InvalidArgument("it must be a file of at most ", kMaxGoldenFile, " bytes");
  const auto text = data::ReadFile(path);
  if (!text.ok()) return IoError("it cannot be read");
  TERN_ASSIGN(GoldenRequest golden, ParseGolden(*text, version.config()));
  TERN_ASSIGN(const std::vector<WireTensor> outputs, TryRequest(version, std::move(golden.request), limit));
  return Check(golden, outputs);
}

}  // namespace

bool HasGoldenRequests(const std::string& folder, const std::string& version) {
  return !GoldenFiles(folder, version).empty();
}

Result<size_t> RunGoldenRequests(ModelVersion& version, const std::string& folder,
                                 std::chrono::milliseconds limit) {
  const std::vector<std::string> files = GoldenFiles(folder, version.version());
  if (files.size() > kMaxFiles)
    return InvalidArgument("the model has ", files.size(), " golden requests; at most ", kMaxFiles,
                           " are allowed");
  for (const std::string& file : files) {
    const Status status = Guard([&] { return RunFile(version, folder, file, limit); });
    if (!status.ok()) return Status(status.code(), StrCat("golden request '", file, "': ", status.message()));
  }
  return files.size();
}

}  // namespace tern::server
