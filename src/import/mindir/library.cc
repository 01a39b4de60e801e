// The entry point of libtern_mindir.so, the MindIR importer. Tern loads this library when it reads a MindIR
// model.
#include "import/mindir/importer.h"
#include "import/mindir/operators.h"
#include "load/importer.h"

namespace tern::mindir {

static Result<std::unique_ptr<Graph>> Read(const load::Source& source, load::ReadContext&) {
  return ImportBytes(source.bytes, source.path);
}

}  // namespace tern::mindir

TERN_IMPORTER(tern::mindir::Read, tern::mindir::Operators)
