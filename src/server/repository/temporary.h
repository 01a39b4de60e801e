// A private folder for the files that a load request sends.
#pragma once
#include <map>
#include <memory>
#include <string>

#include "base/status.h"

namespace tern::server {

class TemporaryFolder {
 public:
  // Creates a folder that only this user can read, and writes files, given by relative name, to it. Refuses
  // names that lead out of the folder.
  static Result<std::shared_ptr<TemporaryFolder>> Create(const std::map<std::string, std::string>& files);
  ~TemporaryFolder();  // removes the folder
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace tern::server
