// Reads a file with inputs of a model. The path "-" is standard input.
#pragma once
#include <string>

#include "data/image/image.h"
#include "data/npz.h"

namespace tern::tools {

// Returns the extension of a path in lower case, such as ".npy".
std::string Extension(const std::string& path);
bool IsPicture(const std::string& path);
bool IsPictureKind(const std::string& extension);

struct InputFile {
  // Opens a file. Reads text files and standard input at once. Npy, Npz and Picture read other files later.
  // The first bytes of standard input determine its kind. If standard input is text, its kind is ".txt" (one
  // string per line) if `lines` is true, else ".json" or ".csv".
  static Result<InputFile> Open(const std::string& path, bool lines);

  Result<Tensor> Npy() const;
  Result<data::NamedTensors> Npz() const;
  Result<data::Image> Picture() const;

  std::string path;    // the path, or "standard input", for messages
  std::string kind;    // the format as an extension, such as ".npy"
  std::string text;    // the contents of a text file or of standard input
  bool piped = false;  // true if the file is standard input
};

}  // namespace tern::tools
