#include "tools/input_file.h"

#include <filesystem>

#include "data/file.h"
#include "data/npy.h"

namespace tern::tools {
namespace {

std::string KindOf(const std::string& bytes, bool lines) {
  const std::pair<const char*, const char*> starts[] = {
      {"\x93NUMPY", ".npy"}, {"PK", ".npz"},   {"\x89PNG", ".png"}, {"\xff\xd8\xff", ".jpg"},
      {"RIFF", ".wav"},      {"RF64", ".wav"}, {"fLaC", ".flac"}};
  for (const auto& [start, kind] : starts)
    if (StartsWith(bytes, start)) return kind;
  const size_t first = bytes.find_first_not_of(" \t\r\n");
  const char c = first == std::string::npos ? '\0' : bytes[first];
  if (!lines && (c == '[' || c == '{')) return ".json";
  return lines ? ".txt" : ".csv";
}

template <class T> Result<T> Named(Result<T> read) {
  if (!read.ok()) return read.TakeStatus().While("reading standard input");
  return read;
}

}  // namespace

std::string Extension(const std::string& path) {
  std::string text = std::filesystem::path(path).extension().string();
  for (char& c : text) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  return text;
}

bool IsPictureKind(const std::string& extension) {
  return extension == ".png" || extension == ".jpg" || extension == ".jpeg";
}

bool IsPicture(const std::string& path) { return IsPictureKind(Extension(path)); }

Result<InputFile> InputFile::Open(const std::string& path, bool lines) {
  InputFile file{path, Extension(path), "", path == "-"};
  if (file.piped) {
    TERN_ASSIGN(file.text, data::ReadStandardInput());
    file.path = "standard input";
    file.kind = KindOf(file.text, lines);
  } else if (file.kind == ".json" || file.kind == ".txt" || file.kind == ".csv") {
    TERN_ASSIGN(file.text, data::ReadFile(path));
  }
  return file;
}

Result<Tensor> InputFile::Npy() const { return piped ? Named(data::ParseNpy(text)) : data::ReadNpy(path); }

Result<data::NamedTensors> InputFile::Npz() const {
  return piped ? Named(data::ParseNpz(text)) : data::ReadNpz(path);
}

Result<data::Image> InputFile::Picture() const {
  return piped ? Named(data::DecodeImage(text)) : data::ReadImage(path);
}

}  // namespace tern::tools
