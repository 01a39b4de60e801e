// Copies one object into a file.
#pragma once
#include <atomic>

#include "server/store/copy_list.h"
#include "server/store/object_store.h"
#include "server/store/retry.h"

namespace tern::server {

struct TransferCounters {
  std::atomic<uint64_t> bytes{0}, retries{0};
};

// A hash of the object's version, without characters that a list of files could not have.
std::string VersionId(const ObjectInfo& object);

// Creates the file, fetches the object into it and syncs it to the disk. Continues a transfer that broke off,
// and repeats one whose size or checksum is wrong. `sha256` must be the checksum of the content, unless it is
// empty. Fails with kResourceExhausted if the disk is full or the content has more than `most` bytes; with
// kIo if the store fails for longer than the attempts last; with kInvalidModel if every attempt brings wrong
// content. The file is removed then.
Result<CopiedFile> Download(ObjectStore& store, const ObjectInfo& object, const std::string& sha256,
                            const std::string& path, uint64_t most, const RetryOptions& retry,
                            TransferCounters& counters, const Stop& stop);

}  // namespace tern::server
