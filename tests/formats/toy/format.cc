// A format for tests: the line "toy 1", then a graph in Tern's text form. A folder with model.toy is a toy
// model too.
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
