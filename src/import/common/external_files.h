// Maps the files with external data that are beside a model.
#pragma once
#include <sys/types.h>

#include <map>
#include <string>
#include <tuple>

#include "core/buffer.h"

namespace tern::import {

// Maps the external data files of one model during its import. All tensors in a file share one mapping. The
// file is unmapped when the last of these tensors is freed. Each import maps the files again, so it never
// reads an old version of a replaced file. The operating system shares the pages of several mappings.
class ExternalFiles {
 public:
  explicit ExternalFiles(std::string folder) : folder_(std::move(folder)) {}
  // Maps the file `location`, a path relative to the folder. Resolves symbolic links. Fails if the path
  // contains "..", or if the file is then outside the folder or is not a regular file. Messages contain the
  // name `tensor`.
  Result<Buffer> Map(const std::string& location, const std::string& tensor);

 private:
  // Identifies one version of a file: device, inode, size, and modification time in seconds and nanoseconds.
  using Identity = std::tuple<dev_t, ino_t, off_t, time_t, long>;
  std::string folder_;
  std::map<Identity, Buffer> maps_;
};

}  // namespace tern::import
