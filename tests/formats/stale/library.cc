#undef TERN_VERSION
#define TERN_VERSION "0.0.7"
#include "load/importer.h"

static tern::Result<std::unique_ptr<tern::Graph>> Read(const tern::load::Source&, tern::load::ReadContext&) {
  return tern::Status(tern::Code::kInternal, "a library of another version was used");
}

TERN_IMPORTER(Read)
