// What was measured once, kept as text on disk: a file for each processor, instruction set and version of the
// kernels. Anybody may have written it: what cannot be read is left out, line by line.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace tern {

// Raise it when kernels change their speed: what was measured before is then measured again.
constexpr int kKernelsVersion = 1;

struct Measured {
  std::string kernel;
  double microseconds = 0;
};
using Measurements = std::map<std::string, std::vector<Measured>>;  // by node; the one to use comes first

struct RecordKey {
  std::string cpu;  // the processor's name
  std::string isa;  // "avx512 bf16"
  int kernels = kKernelsVersion;
};
RecordKey RecordKeyHere();  // with the instruction set that is active

// Nothing where the text was written for something else.
Measurements ParseRecord(std::string_view text, const RecordKey& key);
std::string FormatRecord(const Measurements& measurements, const RecordKey& key);
// What lines of a record can hold.
bool Recordable(const std::string& node);

// Where records lie unless somebody says otherwise: $TERN_CACHE_DIR, $XDG_CACHE_HOME/tern, ~/.cache/tern.
// Empty: nowhere.
std::string DefaultCacheDir();
std::string RecordPath(const std::string& folder, const RecordKey& key);

// A file that is not there, or is not readable, holds nothing.
Measurements ReadRecord(const std::string& path, const RecordKey& key);
// Adds to what the file holds by now: others may write it at the same time. The file appears whole or not at
// all.
Status AddToRecord(const std::string& path, const Measurements& measurements, const RecordKey& key);

}  // namespace tern
