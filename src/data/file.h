// Whole files: read into memory, written so that a reader sees the old file or the new one, never half of it.
#pragma once
#include <string>
#include <string_view>

#include "base/status.h"
#include "core/buffer.h"

namespace tern::data {

Result<std::string> ReadFile(const std::string& path);
// All of standard input. It can be read once: a second call is an error.
Result<std::string> ReadStandardInput();

// Through a temporary file beside `path` that takes its name at the end. Symbolic links are followed: the
// file that they lead to is replaced, the links stay. Devices and pipes are written to directly.
Status WriteFile(const std::string& path, std::string_view bytes);

Status MakeFolders(const std::string& path);

// A hidden folder beside `path`, for writers that open files themselves. They write to path(); Commit moves
// every file made there to its place, the one called like `path` last. Without Commit the folder vanishes.
// Symbolic links are followed: the folder lies beside the file that `path` leads to.
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

// Removes what unfinished writers left. Safe to call from a signal handler.
void RemovePendingFiles();

}  // namespace tern::data
