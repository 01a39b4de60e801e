// A file that holds inputs of a model; "-" is standard input.
#pragma once
#include <string>

#include "data/image.h"
#include "data/npz.h"

namespace tern::tools {

// The extension in lower case: ".npy".
std::string Extension(const std::string& path);
bool IsPicture(const std::string& path);
bool IsPictureKind(const std::string& extension);

struct InputFile {
  // Reads text files and standard input; other files are left to the functions below. Of standard input the
  // first bytes tell the kind; text of no known kind is ".csv", or ".txt" where `lines` (a string each).
  static Result<InputFile> Open(const std::string& path, bool lines);

  Result<Tensor> Npy() const;
  Result<data::NamedTensors> Npz() const;
  Result<data::Image> Picture() const;

  std::string path;  // for messages; "standard input"
  std::string kind;  // ".npy"
  std::string text;  // what was read
  bool piped = false;
};

}  // namespace tern::tools
