// A format for tests. A file begins with the line "toy 1", which a graph in Tern's text form follows. A
// folder that contains model.toy is a toy model too.
#include "load/format.h"

namespace tern::load {

TERN_FORMAT(Toy) {
  return {.name = "Toy",
          .title = "a toy model",
          .extensions = {".toy"},
          .magic = {{0, "toy 1\n"}},
          .folder_file = "model.toy",
          .library = "toy"};
}

}  // namespace tern::load
