// The .tern format. libtern reads it without an importer library.
#include "ir/tern_file.h"
#include "load/format.h"

namespace tern::load {
namespace {

Result<std::unique_ptr<Graph>> ReadTern(const Source& source, ReadContext&) {
  return LoadTernBytes(source.bytes);
}

}  // namespace

TERN_FORMAT(Tern) {
  return {.name = "Tern",
          .title = "a Tern model",
          .extensions = {".tern"},
          .magic = {{0, {kTernMagic, sizeof kTernMagic}}},
          .read = ReadTern};
}

}  // namespace tern::load
