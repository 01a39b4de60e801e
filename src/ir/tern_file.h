// The .tern file: a FlatBuffers header and 64-byte aligned blobs, opened by mapping.
#pragma once
#include <memory>
#include <string>

#include "ir/graph.h"

namespace tern {

inline constexpr char kTernMagic[8] = {'T', 'E', 'R', 'N', 'M', 'O', 'D', 'L'};
inline constexpr uint32_t kTernMajor = 1, kTernMinor = 1;

// The file appears under its name only when it is complete.
Status SaveTern(const Graph& graph, const std::string& path, uint64_t source_hash = 0);
Result<std::string> SaveTernBytes(const Graph& graph, uint64_t source_hash = 0);

struct LoadOptions {
  // Checksums of blobs are verified unless the data is larger than this, so that a huge file opens without
  // being read.
  size_t verify_up_to = size_t{64} << 20;
};
// Constants refer to the mapped file; nothing is copied.
Result<std::unique_ptr<Graph>> LoadTern(const std::string& path, const LoadOptions& options = {});
Result<std::unique_ptr<Graph>> LoadTernBytes(const Buffer& bytes, const LoadOptions& options = {});
// The hash of the source file, as stored by SaveTern.
Result<uint64_t> SourceHashOf(const std::string& path);
// Verifies every checksum of the file, whatever its size.
Status CheckTern(const std::string& path);

bool LooksLikeTern(const void* data, size_t size);
uint64_t Checksum(const void* data, size_t size);

}  // namespace tern
