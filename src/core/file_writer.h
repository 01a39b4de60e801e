// A file that is written piece by piece and appears under its name only when it is whole.
#pragma once
#include <cstdio>
#include <string>

#include "base/status.h"

namespace tern {

class FileWriter {
 public:
  // Writes to <path>.partial until Commit. Failures are kept: later writes do nothing, Commit returns the
  // first one, with the system's reason.
  explicit FileWriter(std::string path);
  ~FileWriter();  // removes the partial file unless it was committed
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  void Write(const void* data, size_t size);
  Status Commit();

 private:
  void Fail(int error);
  void Close();
  std::string path_, partial_;
  std::FILE* file_;
  bool pending_;  // the partial file is there
  size_t written_ = 0;
  Status status_;
};

}  // namespace tern
