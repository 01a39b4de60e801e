#include "core/file_writer.h"

#include <cerrno>
#include <cstring>

namespace tern {

FileWriter::FileWriter(std::string path)
    : path_(std::move(path)),
      partial_(path_ + ".partial"),
      file_(std::fopen(partial_.c_str(), "wbe")),
      pending_(file_ != nullptr) {
  if (!file_) Fail(errno);
}

FileWriter::~FileWriter() {
  if (file_) std::fclose(file_);
  if (pending_) std::remove(partial_.c_str());
}

void FileWriter::Fail(int error) {
  if (!status_.ok()) return;
  status_ = written_
                ? IoError("cannot write '", path_, "' beyond ", written_, " bytes: ", std::strerror(error))
                : IoError("cannot write '", path_, "': ", std::strerror(error));
}

void FileWriter::Write(const void* data, size_t size) {
  if (!status_.ok() || !size) return;
  const size_t n = std::fwrite(data, 1, size, file_);
  written_ += n;
  if (n < size) Fail(errno);
}

void FileWriter::Close() {
  if (file_ && std::fclose(file_) != 0) Fail(errno);
  file_ = nullptr;
}

Status FileWriter::Commit() {
  Close();
  if (!status_.ok()) return status_;
  if (std::rename(partial_.c_str(), path_.c_str()) != 0) Fail(errno);
  pending_ = !status_.ok();
  return status_;
}

}  // namespace tern
