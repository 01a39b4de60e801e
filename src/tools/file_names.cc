#include "tools/file_names.h"

#include <filesystem>
#include <map>
#include <set>

namespace fs = std::filesystem;

namespace tern::tools {
namespace {

// A file name has at most 255 bytes. The extension and the parts of a temporary name are added.
constexpr size_t kMaxName = 180;

bool IsOdd(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f ||
         std::string_view("/:\\*?\"<>|").find(c) != std::string_view::npos;
}

// FNV-1a, folded to 32 bits, as 8 hexadecimal digits. The same on every machine and in every version.
std::string HashOf(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  const auto folded = static_cast<uint32_t>(hash ^ hash >> 32);
  std::string digits;
  for (int shift = 28; shift >= 0; shift -= 4) digits += "0123456789abcdef"[folded >> shift & 15];
  return digits;
}

// Returns at most `size` bytes, without cutting a character of UTF-8.
std::string_view Cut(std::string_view text, size_t size) {
  if (text.size() <= size) return text;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80) --size;
  return text.substr(0, size);
}

std::string WithHash(const std::string& file, const std::string& value_name) {
  return StrCat(Cut(file, kMaxName - 9), "-", HashOf(value_name));
}

}  // namespace

std::string FileName(const std::string& value_name) {
  std::string name = value_name;
  for (char& c : name)
    if (IsOdd(c)) c = '_';
  if (name.empty() || name == "." || name == "..") name.insert(0, "_");
  return name.size() > kMaxName ? WithHash(name, value_name) : name;
}

void NameFiles(const std::vector<Destination*>& destinations) {
  std::map<std::string, int> wanted;  // how many values want each path
  const auto path = [](const Destination& to, const std::string& name) {
    return (fs::absolute(to.folder).lexically_normal() / name).string();
  };
  for (const Destination* to : destinations)
    if (!to->folder.empty())
      for (const Value* v : to->values) ++wanted[path(*to, FileName(v->name))];
  std::set<std::string> taken;
  for (Destination* to : destinations) {
    to->names.clear();
    for (const Value* v : to->values) {
      std::string name = FileName(v->name);
      if (!to->folder.empty()) {
        if (wanted[path(*to, name)] > 1 && name != v->name) name = WithHash(name, v->name);
        const std::string first = name;
        for (int i = 2; !taken.insert(path(*to, name)).second; ++i) name = StrCat(first, "-", i);
      }
      to->names.push_back(std::move(name));
    }
  }
}

}  // namespace tern::tools
