// A format whose library reports that it was built for another version of Tern.
#include "load/format.h"

namespace tern::load {

TERN_FORMAT(Stale) {
  return {.name = "Stale",
          .title = "a stale model",
          .extensions = {".stale"},
          .magic = {{0, "stale"}},
          .library = "stale"};
}

}  // namespace tern::load
