// Checks names of models and files, and reads files of a model's folder.
#include <algorithm>
#include <filesystem>

#include "data/file.h"
#include "server/repository/config.h"

namespace tern::server {
namespace fs = std::filesystem;

Status CheckModelName(std::string_view name) {
  if (name.empty()) return InvalidArgument("a model name must not be empty");
  if (name.size() > 255) return InvalidArgument("a model name has at most 255 bytes, got ", name.size());
  bool safe = name != "." && name.find("..") == std::string_view::npos;
  for (const char c : name) safe &= c != '/' && c != '\\' && static_cast<unsigned char>(c) >= 32 && c != 127;
  return safe ? Status() : InvalidArgument("model name must not contain path traversal characters");
}

bool IsVersion(const std::string& name) {
  if (name.empty() || name.size() > 18 || name[0] == '0') return false;
  return std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

Result<std::string> FileInside(const std::string& folder, const std::string& file) {
  const fs::path relative(file);
  bool safe = !file.empty() && file.find('\0') == std::string::npos && relative.is_relative();
  for (const fs::path& part : relative) safe &= part != "..";
  if (!safe) return InvalidArgument("file name '", file, "' must not leave the model's folder");
  std::error_code error;
  const fs::path path = fs::path(folder) / relative;
  const fs::path real = fs::canonical(path, error);
  if (error) return NotFound("file '", file, "' is not in the model's folder");
  const fs::path root = fs::canonical(folder, error);
  if (error) return NotFound("the model's folder does not exist");
  const auto [end, unused] = std::mismatch(root.begin(), root.end(), real.begin(), real.end());
  if (end != root.end())
    return InvalidArgument("file '", file, "' is a symbolic link that leaves the model's folder");
  return real.string();
}

Result<std::vector<std::string>> ReadLabels(const std::string& path) {
  const auto text = data::ReadFile(path);
  if (!text.ok()) return NotFound("the file of labels cannot be read");
  std::vector<std::string> labels = SplitText(*text, '\n');
  if (!labels.empty() && labels.back().empty()) labels.pop_back();
  for (std::string& label : labels)
    while (!label.empty() && (label.back() == '\r' || label.back() == ' ' || label.back() == '\t'))
      label.pop_back();
  return labels;
}

}  // namespace tern::server
