// The interface of the stores of remote repositories: S3, Google Cloud Storage, a web server, a folder.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/stop.h"

namespace tern::server {

struct ObjectInfo {
  std::string key;   // the path below the repository, such as "digits/1/model.onnx"; comes from outside
  std::string path;  // the part of the key below the model's folder; SortListing sets it
  uint64_t size = 0;
  bool size_known = true;
  std::string version;    // changes with the content: an ETag, a generation, a checksum
  std::string md5;        // in hexadecimal; empty: unknown
  std::string sha256;     // in hexadecimal; empty: unknown
  double age = -1;        // seconds since the last change, by the clock of the store; -1: unknown
  bool complete = false;  // listed by an index that names every file, so that no file can be missing
};

// The checksums that a store sent with the content of an object, in hexadecimal; empty: unknown.
struct FetchedSums {
  std::string md5, sha256;
};

// Receives the content in order. `offset` is the position of `bytes`; it is 0 again if the store starts over.
using ObjectSink = std::function<Status(uint64_t offset, std::string_view bytes)>;

// Thread-safe. Functions fail with kIo if a retry may succeed, with kCancelled when `stop` says so, with
// kUnavailable if the object is no longer the one that was listed, and with other codes for good.
class ObjectStore {
 public:
  virtual ~ObjectStore() = default;
  // Lists the objects below the repository, or below one of its folders. `folder` has no slash at its end;
  // empty: all. Keys are not checked.
  virtual Result<std::vector<ObjectInfo>> List(const std::string& folder, const Stop& stop) = 0;
  // Fetches the content from `offset` on. Earlier calls have fetched the bytes before `offset`.
  virtual Result<FetchedSums> Fetch(const ObjectInfo& object, uint64_t offset, const ObjectSink& sink,
                                    const Stop& stop) = 0;
};

// The largest number of objects in one repository.
inline constexpr size_t kMaxObjects = 100'000;

}  // namespace tern::server
