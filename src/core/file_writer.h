// Writes a file in several calls. The file appears under its name only when it is complete.
#pragma once
#include <cstdio>
#include <string>

#include "base/status.h"

namespace tern {

class FileWriter {
 public:
  // Writes to <path>.partial until Commit. After a failure further writes do nothing, and Commit returns the
  // first error with the system's reason.
  explicit FileWriter(std::string path);
  ~FileWriter();  // removes the partial file unless Commit succeeded
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  void Write(const void* data, size_t size);
  Status Commit();

 private:
  void Fail(int error);
  void Close();
  std::string path_, partial_;
  std::FILE* file_;
  bool pending_;  // the partial file exists
  size_t written_ = 0;
  Status status_;
};

}  // namespace tern
