// A temporary folder that only this user can read. The destructor removes it with its files.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"

namespace tern::server {

class PrivateFolder {
 public:
  static Result<std::unique_ptr<PrivateFolder>> Create();
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  explicit PrivateFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace tern::server
