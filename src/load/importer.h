// The interface between libtern and an importer library (libtern_<format>.so).
#pragma once
#include "load/format.h"

namespace tern::load {

// C++ types cross this interface, so both sides must have the same version of Tern. libtern compares
// `version` before it uses anything else. The number in the entry point's name changes when this struct
// changes.
struct Importer {
  const char* version = nullptr;  // the version of Tern that the library was built with
  ReadFunction read = nullptr;
};
using ImporterEntry = const Importer* (*)();
inline constexpr const char* kImporterEntry = "tern_importer_1";

}  // namespace tern::load

// Defines the entry point, in library.cc of a format's folder. function: a ReadFunction.
#define TERN_IMPORTER(function)                                              \
  extern "C" const tern::load::Importer* tern_importer_1() {                 \
    static constexpr tern::load::Importer importer{TERN_VERSION, &function}; \
    return &importer;                                                        \
  }
