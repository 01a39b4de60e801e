// Copies of a repository's models on the local disk, in the layout that the server loads.
//   models/NAME     a symbolic link to the current copy of a model, replaced atomically
//   copies/ID a complete copy, which does not change; files that two copies share are hard links
//   copies/ID.list the files of the copy with their sizes, versions and checksums
//   incoming/ID     a copy that is not complete; removed at the next start
#pragma once
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "server/store/copy_list.h"

namespace tern::server {

// Thread-safe, but only one thread at a time may change a given model.
class CacheFolder {
 public:
  // Uses the folder `root`, which is created if it is missing. Fails if another server uses it, or if it
  // belongs to another repository than `url`. Copies whose files are missing or have another size are
  // removed. `most`: limit on the bytes of all copies; 0: what the disk has.
  static Result<std::unique_ptr<CacheFolder>> Open(const std::string& root, const std::string& url,
                                                   uint64_t most);
  ~CacheFolder();

  std::string models() const { return root_ + "/models"; }
  std::vector<std::string> Models() const;
  bool Has(const std::string& model) const;  // a copy of the model is there
  CopiedFiles Current(const std::string& model) const;

  // Reserves disk space for a file of a new copy while the object exists.
  class Room {
   public:
    ~Room() { cache_.Free(*this); }
    Room(const Room&) = delete;
    Room& operator=(const Room&) = delete;
    // Reserves more space, so that the file may have `bytes` bytes. Fails like MakeRoom. One thread calls it.
    Status Grow(uint64_t bytes);

   private:
    friend class CacheFolder;
    Room(CacheFolder& cache, std::string path, uint64_t bytes)
        : cache_(cache), path_(std::move(path)), bytes_(bytes) {}
    CacheFolder& cache_;
    const std::string path_;
    uint64_t bytes_;  // changed under the lock of the cache
  };
  // Reserves `bytes` bytes for the file `path`. Removes files of copies that were replaced, oldest first,
  // until there is enough space. The space that other Rooms reserve is not available. If there is not enough
  // space, fails with kResourceExhausted. The message contains the numbers.
  Result<std::unique_ptr<Room>> MakeRoom(const std::string& path, uint64_t bytes);
  // Removes copies that were replaced this long ago. Files that a current copy shares also stay in the old
  // copy, because a version that was loaded from the old copy may be loaded from there again.
  void RemoveReplaced(std::chrono::seconds age);
  // Keeps files of the copy whose folder is `folder` until the result is destroyed, because they may be read
  // again: the files of `version` and those beside the versions. Returns null if `folder` is no copy of the
  // cache. The result may outlive the cache.
  std::shared_ptr<const void> Keep(const std::string& folder, const std::string& version);
  uint64_t Bytes() const;

  // A copy that grows. The destructor removes it, unless it was published.
  class NewCopy {
   public:
    ~NewCopy();
    NewCopy(const NewCopy&) = delete;
    NewCopy& operator=(const NewCopy&) = delete;
    // The path for a new file. Creates its folder.
    Result<std::string> PathFor(const std::string& file) const;
    void Add(const std::string& file, CopiedFile copied) { files_[file] = std::move(copied); }
    // Adds a file of the current copy. Returns false if that is not possible.
    bool Link(const std::string& file, const CopiedFile& current);
    void Remove(const std::string& file);
    const CopiedFiles& files() const { return files_; }

   private:
    friend class CacheFolder;
    NewCopy(std::string folder, std::string current)
        : folder_(std::move(folder)), current_(std::move(current)) {}
    std::string folder_;   // empty: published
    std::string current_;  // the current copy; empty: none
    CopiedFiles files_;
  };
  Result<std::unique_ptr<NewCopy>> Begin(const std::string& model);
  // Makes the new copy the current one.
  Status Publish(const std::string& model, NewCopy& copy);
  // Adds the name of a model that has no copy yet.
  Status AddName(const std::string& model);
  void Remove(const std::string& model);

 private:
  struct Model {
    std::string copy;  // its id; empty: only the name is known
    CopiedFiles files;
  };
  struct Replaced {
    std::string copy;
    std::chrono::steady_clock::time_point since;
    uint64_t pruned = 0;  // changes_ when its files were last removed
  };
  struct Use {
    std::string version;
    std::weak_ptr<const void> user;
  };
  CacheFolder(std::string root, uint64_t most) : root_(std::move(root)), most_(most) {}
  Status Prepare(const std::string& url);
  void ReadCopies();
  bool ReadCopy(const std::string& model);
  Status PointTo(const std::string& model, const std::string& target);
  void RemoveCopy(const std::string& copy);
  // Removes the files that no current copy shares and that are not kept. Returns whether nothing is left.
  bool Prune(Replaced& replaced);
  // Returns the versions of a copy that are kept. Removes ended uses from uses_.
  std::set<std::string> KeptVersions(const std::string& copy);
  std::string NewId(const std::string& model);
  // The next three are called under the lock.
  uint64_t FreeBytes();
  // Removes files of copies that were replaced until `bytes` bytes are free. Returns how many are free.
  uint64_t FreeUp(uint64_t bytes);
  Status NoRoom(uint64_t room, const std::string& needed) const;
  void Free(const Room& room);

  const std::string root_;
  const uint64_t most_;
  int lock_ = -1;
  mutable std::mutex mutex_;
  std::map<std::string, Model> models_;
  std::vector<Replaced> replaced_;
  std::map<std::string, std::vector<Use>> uses_;  // by copy
  std::set<const Room*> rooms_;
  uint64_t next_ = 0;
  uint64_t changes_ = 1;  // number of changes of current copies
};

}  // namespace tern::server
