// The interface between libtern and an importer library (libtern_<format>.so).
#pragma once
#include "load/format.h"
#include "load/interface_id.h"  // cmake/TernInterface.cmake generates it

#define TERN_TEXT_OF(macro) #macro
#define TERN_TEXT(macro) TERN_TEXT_OF(macro)
// A text that must be equal in libtern and in an importer. It identifies the declarations of Tern that
// importers use, and how the compiler and its library lay out C++ types. If _GLIBCXX_DEBUG is not defined,
// TERN_TEXT(_GLIBCXX_DEBUG) is "_GLIBCXX_DEBUG".
#define TERN_BUILD                                                                                 \
  TERN_INTERFACE_ID ", compiler " __VERSION__ ", abi " TERN_TEXT(__GXX_ABI_VERSION) "/" TERN_TEXT( \
      _GLIBCXX_USE_CXX11_ABI) "/" TERN_TEXT(_GLIBCXX_DEBUG)

namespace tern::load {

// libtern and an importer exchange C++ types, so both must belong to the same build of Tern. libtern compares
// `version` and `build` before it calls `read`. If you change this struct, also change the number in the name
// of the entry point, tern_importer_3.
struct Importer {
  const char* version = nullptr;  // the version of Tern that the library was built with
  const char* build = nullptr;    // TERN_BUILD
  ReadFunction read = nullptr;
  OperatorsFunction operators = nullptr;  // null if the format has no operators of its own
};
using ImporterEntry = const Importer* (*)();
inline constexpr const char* kImporterEntry = "tern_importer_3";

}  // namespace tern::load

extern "C" const tern::load::Importer* tern_importer_3();

// Defines the entry point of an importer library: TERN_IMPORTER(read) or TERN_IMPORTER(read, operators), with
// a ReadFunction and an OperatorsFunction. Use it in library.cc of the format's folder.
#define TERN_IMPORTER(...)                                                                 \
  extern "C" const tern::load::Importer* tern_importer_3() {                               \
    static constexpr tern::load::Importer importer{TERN_VERSION, TERN_BUILD, __VA_ARGS__}; \
    return &importer;                                                                      \
  }
