// What an importer library (libtern_<format>.so) offers to libtern.
#pragma once
#include "load/format.h"

namespace tern::load {

// C++ types cross this edge, so both sides must come from the same version of Tern. The number in the entry
// point's name changes with this struct; `version` is compared before anything else is used.
struct Importer {
  const char* version = nullptr;  // Tern's, at the library's build
  ReadFunction read = nullptr;
};
using ImporterEntry = const Importer* (*)();
inline constexpr const char* kImporterEntry = "tern_importer_1";

}  // namespace tern::load

// In library.cc of a format's folder: the entry point, for a function of type ReadFunction.
#define TERN_IMPORTER(function)                                              \
  extern "C" const tern::load::Importer* tern_importer_1() {                 \
    static constexpr tern::load::Importer importer{TERN_VERSION, &function}; \
    return &importer;                                                        \
  }
