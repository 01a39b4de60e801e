// Copies one object into a file.
#pragma once
#include <atomic>
#include <functional>

#include "server/store/copy_list.h"
#include "server/store/object_store.h"
#include "server/store/retry.h"

namespace tern::server {

struct TransferCounters {
  std::atomic<uint64_t> bytes{0}, retries{0};
};

// Returns a hash of the object's version. It contains only characters that a list of files may contain.
std::string VersionId(const ObjectInfo& object);

// Called before the file gets more than its present size. `bytes` is the new size. Fails with
// kResourceExhausted if there is no room.
using RoomFor = std::function<Status(uint64_t bytes)>;

// Creates the file, fetches the object into it and syncs it to the disk. Continues an interrupted transfer,
// and repeats a transfer whose size or checksum is wrong. If `sha256` is not empty, the content must have
// this checksum. Fails with kResourceExhausted if the disk is full, with the error of `room` if that fails,
// with kIo if the store fails in all attempts, and with kInvalidModel if the last attempt returned wrong
// content. Removes the file if it fails.
Result<CopiedFile> Download(ObjectStore& store, const ObjectInfo& object, const std::string& sha256,
                            const std::string& path, const RoomFor& room, const RetryOptions& retry,
                            TransferCounters& counters, const Stop& stop);

}  // namespace tern::server
