// Reads entire files, and writes them atomically: a reader sees the old file or the new one.
#pragma once
#include <string>
#include <string_view>

#include "base/status.h"
#include "core/buffer.h"

namespace tern::data {

Result<std::string> ReadFile(const std::string& path);
// Reads all of standard input. A second call fails.
Result<std::string> ReadStandardInput();

// Writes a temporary file beside `path` and renames it at the end. If `path` is a symbolic link, the file
// that it points to is replaced, and the link stays. Devices and pipes are written directly.
Status WriteFile(const std::string& path, std::string_view bytes);

Status MakeFolders(const std::string& path);

// A hidden folder beside `path`, for writers that open files themselves. Such writers write to path() and to
// files beside it. Commit moves all files from the hidden folder to the folder of `path`. The file named like
// `path` moves last. Without Commit, the destructor removes the folder with its files. If `path` is a
// symbolic link, the folder is beside the file that it points to.
class Staging {
 public:
  static Result<Staging> Beside(const std::string& path);
  Staging(Staging&& other) noexcept;
  Staging& operator=(Staging&&) = delete;
  ~Staging();
  const std::string& path() const { return file_; }
  Status Commit();

 private:
  Staging(std::string target, std::string folder, std::string file)
      : target_(std::move(target)), folder_(std::move(folder)), file_(std::move(file)) {}
  std::string target_, folder_, file_;
};

// Removes the temporary files of unfinished writers. Async-signal-safe.
void RemovePendingFiles();

}  // namespace tern::data
