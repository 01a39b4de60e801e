// A tuning record is a text file with measurements. There is one file per processor, instruction set and
// kernel version. The file is untrusted, so lines that cannot be parsed are ignored.
#pragma once
#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace tern {

// Increase this number when the speed of kernels changes. Measurements with older numbers are ignored.
constexpr int kKernelsVersion = 1;

struct Measured {
  std::string kernel;
  double microseconds = 0;
};
// The times of all measured kernels, by NodeKey. The first kernel in each list is the one to use.
using Measurements = std::map<std::string, std::vector<Measured>>;

struct RecordKey {
  std::string cpu;  // the processor's name
  std::string isa;  // "avx512 bf16"
  int kernels = kKernelsVersion;
};
RecordKey RecordKeyFor(const std::string& isa);  // for this processor; `isa` is Target::isa()

// Parses the text of a record. Returns the lines in their order. If a node has several lines, returns only
// the first one. Returns no lines if the text has another key.
using RecordLines = std::vector<std::pair<std::string, std::vector<Measured>>>;
RecordLines ParseRecord(std::string_view text, const RecordKey& key);
// Returns the text of a record. It contains the fresh measurements, then those lines of `old` that belong to
// other nodes, in their order. If the text exceeds the limits of a record, the last lines are dropped,
// because they are the oldest.
std::string FormatRecord(const Measurements& fresh, const RecordLines& old, const RecordKey& key);
// Returns whether the record can store a node with this key.
bool Recordable(const std::string& node);

// Returns the default folder of records: $TERN_CACHE_DIR, $XDG_CACHE_HOME/tern or ~/.cache/tern. Empty if
// none of TERN_CACHE_DIR, XDG_CACHE_HOME and HOME is set.
std::string DefaultCacheDir();
std::string RecordPath(const std::string& folder, const RecordKey& key);

constexpr size_t kMaxRecordBytes = size_t{64} << 20;

// Reads the measurements of a file. Returns no measurements if the file does not exist. Fails if it cannot be
// read, is not a regular file, or is larger than kMaxRecordBytes.
Result<Measurements> ReadRecord(const std::string& path, const RecordKey& key);
// Adds the measurements to the file and replaces it atomically. Fails if the existing file cannot be read, or
// if another process holds its lock longer than `timeout`.
constexpr std::chrono::milliseconds kLockTimeout{100};
Status AddToRecord(const std::string& path, const Measurements& measurements, const RecordKey& key,
                   std::chrono::milliseconds timeout = kLockTimeout);

}  // namespace tern
