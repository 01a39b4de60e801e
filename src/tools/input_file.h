// A file with inputs of a model; "-" is standard input.
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
  // Reads text files and standard input; the functions below read other files. The first bytes of standard
  // input determine its format; unknown text is ".csv", or ".txt" (one string per line) if `lines`.
  static Result<InputFile> Open(const std::string& path, bool lines);

  Result<Tensor> Npy() const;
  Result<data::NamedTensors> Npz() const;
  Result<data::Image> Picture() const;

  std::string path;  // for messages; "standard input"
  std::string kind;  // ".npy"
  std::string text;  // contents
  bool piped = false;
};

}  // namespace tern::tools
