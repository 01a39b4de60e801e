#include "load/importer.h"

#undef TERN_INTERFACE_ID
#define TERN_INTERFACE_ID "0123456789abcdef"

static tern::Result<std::unique_ptr<tern::Graph>> Read(const tern::load::Source&, tern::load::ReadContext&) {
  return tern::Status(tern::Code::kInternal, "a library of another build was used");
}

TERN_IMPORTER(Read)
