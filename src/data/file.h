// Reads and writes entire files. Writing is atomic, so a reader sees either the old file or the new one.
#pragma once
#include <string>
#include <string_view>

#include "base/status.h"
#include "core/buffer.h"

namespace tern::data {

Result<std::string> ReadFile(const std::string& path);
// Reads all of standard input. A second call fails.
Result<std::string> ReadStandardInput();

// Writes a temporary file beside `path` and then renames it to `path`. If `path` is a symbolic link, the link
// stays, and the file that it points to is replaced. Devices and pipes are written directly.
Status WriteFile(const std::string& path, std::string_view bytes);

Status MakeFolders(const std::string& path);

// A temporary hidden folder for writers that open files themselves. Beside(path) creates the folder beside
// the target. The target is `path`. If `path` is a symbolic link, the target is the file that it points to. A
// writer then writes to path(), which has the name of the target, and to other files in the hidden folder.
// Commit moves all files to the folder of the target, and path() last. If one cannot be moved, it puts back
// the files that it replaced and removes the new ones. The destructor removes the hidden folder and the files
// that are still in it.
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
  void Release();  // the hidden folder stays

  std::string target_, folder_, file_;
};

// Removes the temporary files of unfinished writers. Async-signal-safe.
void RemovePendingFiles();

}  // namespace tern::data
