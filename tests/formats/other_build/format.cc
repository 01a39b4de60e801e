// A format whose library was built from other sources of the same version of Tern.
#include "load/format.h"

namespace tern::load {

TERN_FORMAT(OtherBuild) {
  return {.name = "OtherBuild",
          .title = "a model of another build",
          .extensions = {".other_build"},
          .magic = {{0, "other build"}},
          .library = "other_build"};
}

}  // namespace tern::load
