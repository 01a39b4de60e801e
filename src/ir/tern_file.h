// Saves and loads .tern files. A .tern file has a FlatBuffers header and 64-byte aligned blobs. LoadTern
// maps the file into memory.
#pragma once
#include <memory>
#include <string>

#include "ir/graph.h"

namespace tern {

inline constexpr char kTernMagic[8] = {'T', 'E', 'R', 'N', 'M', 'O', 'D', 'L'};
inline constexpr uint32_t kTernMajor = 1, kTernMinor = 1;

// SaveTern writes to another name and renames the file when it is complete.
Status SaveTern(const Graph& graph, const std::string& path, uint64_t source_hash = 0);
Result<std::string> SaveTernBytes(const Graph& graph, uint64_t source_hash = 0);

struct LoadOptions {
  // LoadTern verifies the checksums of blobs only if the data section has at most this many bytes. It opens
  // a larger file without reading all of it.
  size_t verify_up_to = size_t{64} << 20;
};
// Constants refer to the bytes of the mapped file, without a copy. Only strings are copied.
Result<std::unique_ptr<Graph>> LoadTern(const std::string& path, const LoadOptions& options = {});
Result<std::unique_ptr<Graph>> LoadTernBytes(const Buffer& bytes, const LoadOptions& options = {});
// Returns the hash of the source file, as SaveTern stored it.
Result<uint64_t> SourceHashOf(const std::string& path);
// Verifies all checksums of the file.
Status CheckTern(const std::string& path);

bool LooksLikeTern(const void* data, size_t size);
uint64_t Checksum(const void* data, size_t size);

}  // namespace tern
