#include "server/cache/version_identity.h"

#include <algorithm>
#include <atomic>
#include <filesystem>

#include "load/importer.h"  // TERN_BUILD
#include "server/cache/cache_key.h"

namespace tern::server {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxFiles = 100'000;

Status AddFile(const fs::path& path, const std::string& name, Digest& digest) {
  TERN_ASSIGN(const Buffer bytes, Buffer::MapFile(path));
  digest.Add(name);
  digest.Add(uint64_t{bytes.size()});
  digest.AddRaw(bytes.data(), bytes.size());
  return {};
}

Status AddPath(const fs::path& path, Digest& digest) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return AddFile(path, path.filename(), digest);
  std::vector<fs::path> files;
  for (fs::recursive_directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    if (it->is_regular_file(error)) files.push_back(it->path());
    if (files.size() > kMaxFiles) return IoError("a version has more than ", kMaxFiles, " files");
  }
  if (error) return IoError("the folder of a version cannot be read: ", error.message());
  std::sort(files.begin(), files.end());
  digest.Add(uint64_t{files.size()});
  for (const fs::path& file : files) TERN_TRY(AddFile(file, file.lexically_relative(path), digest));
  return {};
}

}  // namespace

std::string UniqueIdentity() {
  static std::atomic<uint64_t> last{0};
  return StrCat("load ", ++last);
}

Result<std::string> ContentIdentity(const ModelConfig& config, const std::vector<std::string>& paths,
                                    const std::string& notes) {
  Digest digest;
  digest.Add(TERN_VERSION);
  digest.Add(TERN_BUILD);
  digest.Add(config.name);
  digest.Add(config.json);
  for (const TensorConfig& output : config.outputs)
    for (const std::string& label : output.labels) digest.Add(label);
  digest.Add(notes);
  for (const std::string& path : paths) TERN_TRY(AddPath(path, digest));
  return digest.Finish().Hex();
}

}  // namespace tern::server
