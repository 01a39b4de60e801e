// Recognises MindSpore models (MindIR), which are protobuf messages. An encrypted model starts with the
// number of its cipher.
#include "load/format.h"
#include "load/foreign.h"

namespace tern::load {

using namespace std::string_view_literals;

TERN_FORMAT(Mindir) {
  return {.name = "MindSpore",
          .title = "a MindSpore model (MindIR)",
          .extensions = {".mindir"},
          .magic = {{0, "\xd8\x5e\x3a\x7f"sv}, {0, "\xd9\x5e\x3a\x7f"sv}, {0, "\xda\x5e\x3a\x7f"sv}},
          .recognise = IsMindSpore,
          .library = "mindir"};
}

}  // namespace tern::load
