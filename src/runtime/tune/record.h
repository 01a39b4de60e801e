// What was measured once, kept as text on disk: a file for each processor, instruction set and version of the
// kernels. Anybody may have written it: what cannot be read is left out, line by line.
#pragma once
#include <chrono>
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
RecordKey RecordKeyFor(const std::string& isa);  // on this processor; isa: of the target

// The lines of a text, in its order, the first where a node has several. Nothing where it was written for
// something else.
using RecordLines = std::vector<std::pair<std::string, std::vector<Measured>>>;
RecordLines ParseRecord(std::string_view text, const RecordKey& key);
// What is fresh, then the lines of other nodes in their order, so that those leave a full record first which
// were measured longest ago.
std::string FormatRecord(const Measurements& fresh, const RecordLines& old, const RecordKey& key);
// What lines of a record can hold.
bool Recordable(const std::string& node);

// Where records lie unless somebody says otherwise: $TERN_CACHE_DIR, $XDG_CACHE_HOME/tern, ~/.cache/tern.
// Empty: nowhere.
std::string DefaultCacheDir();
std::string RecordPath(const std::string& folder, const RecordKey& key);

constexpr size_t kMostRecordBytes = size_t{64} << 20;

// A file that is not there holds nothing. One that cannot be read, is no file, or is larger than
// kMostRecordBytes is an error.
Result<Measurements> ReadRecord(const std::string& path, const RecordKey& key);
// Adds to what the file holds by now, unless that is an error. Others may write it at the same time: their
// lock is waited for no longer than this. The file appears whole or not at all.
constexpr std::chrono::milliseconds kLockPatience{100};
Status AddToRecord(const std::string& path, const Measurements& measurements, const RecordKey& key,
                   std::chrono::milliseconds patience = kLockPatience);

}  // namespace tern
