// Files that the build embeds in the program. They are the model and pictures of the demo, and the files
// of web pages.
#pragma once
#include <cstddef>
#include <span>
#include <string_view>

namespace tern::tools {

struct EmbeddedFile {
  const char* name;
  const unsigned char* data;
  size_t size;
  std::string_view bytes() const { return {reinterpret_cast<const char*>(data), size}; }
};

std::span<const EmbeddedFile> EmbeddedFiles();  // defined in a generated source (cmake/embed.cmake)

}  // namespace tern::tools
