#include "tools/input_file.h"

#include <filesystem>

#include "data/file.h"
#include "data/npy.h"

namespace tern::tools {
namespace {

// Text may start with "BM" or "GIF89a". Pictures contain a zero byte near their start.
bool IsBinaryPicture(std::string_view bytes) {
  return data::DetectImageFormat(bytes) != data::ImageFormat::kUnknown &&
         bytes.substr(0, 64).find('\0') != std::string_view::npos;
}

std::string KindOf(const std::string& bytes, bool lines) {
  if (IsBinaryPicture(bytes)) return ".png";  // the decoder detects the format
  const std::pair<const char*, const char*> starts[] = {
      {"\x93NUMPY", ".npy"}, {"PK", ".npz"}, {"RIFF", ".wav"}, {"RF64", ".wav"}, {"fLaC", ".flac"}};
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
  for (const char* known : {".png", ".jpg", ".jpeg", ".webp", ".bmp", ".gif"})
    if (extension == known) return true;
  return false;
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
