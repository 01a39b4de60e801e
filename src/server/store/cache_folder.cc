#include "server/store/cache_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "data/file.h"
#include "server/core/log.h"
#include "server/repository/config.h"
#include "server/store/digest.h"
#include "server/store/listing.h"
#include "server/store/times.h"

namespace tern::server {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kReserve = 16 << 20;  // bytes of the disk that stay free
constexpr uint64_t kMostGrowth = 64 << 20;

void RemoveAll(const std::string& path) {
  std::error_code ignored;
  fs::remove_all(path, ignored);
}

// Two servers must not change one cache.
Result<int> LockFile(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return IoError("cannot create '", path, "': ", std::strerror(errno));
  if (flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
  close(fd);
  return InvalidArgument("another server uses the repository cache '", fs::path(path).parent_path().string(),
                         "'; each server needs a --repository-cache of its own");
}

void SyncFolder(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  fsync(fd);
  close(fd);
}

}  // namespace

Result<std::unique_ptr<CacheFolder>> CacheFolder::Open(const std::string& root, const std::string& url,
                                                       uint64_t most) {
  TERN_TRY(data::MakeFolders(root));
  std::error_code error;
  const fs::path real = fs::canonical(root, error);
  if (error) return IoError("cannot use the folder '", root, "': ", error.message());
  std::unique_ptr<CacheFolder> cache(new CacheFolder(real.string(), most));
  TERN_TRY(cache->Prepare(url));
  return cache;
}

CacheFolder::~CacheFolder() {
  if (lock_ >= 0) close(lock_);
}

Status CacheFolder::Prepare(const std::string& url) {
  TERN_ASSIGN(lock_, LockFile(root_ + "/lock"));
  const std::string name = root_ + "/url";
  const auto known = data::ReadFile(name);
  if (known.ok() && *known != url + "\n")
    return InvalidArgument("the repository cache '", root_, "' has copies of another repository than ", url);
  if (!known.ok()) TERN_TRY(data::WriteFile(name, url + "\n"));
  RemoveAll(root_ + "/incoming");
  for (const char* folder : {"/models", "/copies", "/incoming", "/none"})
    TERN_TRY(data::MakeFolders(root_ + folder));
  ReadCopies();
  return {};
}

void CacheFolder::ReadCopies() {
  std::error_code error;
  std::vector<std::string> names;
  for (fs::directory_iterator it(models(), error), end; !error && it != end; it.increment(error))
    names.push_back(it->path().filename());
  std::set<std::string> used;
  for (const std::string& name : names) {
    if (ReadCopy(name))
      used.insert(models_[name].copy);
    else
      unlink((models() + "/" + name).c_str());
  }
  for (fs::directory_iterator it(root_ + "/copies", error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename();
    if (!used.count(EndsWith(name, ".list") ? name.substr(0, name.size() - 5) : name)) RemoveAll(it->path());
  }
}

bool CacheFolder::ReadCopy(const std::string& model) {
  std::error_code error;
  const fs::path target = fs::read_symlink(models() + "/" + model, error);
  if (error || target.parent_path() != "../copies") return false;
  const std::string copy = target.filename(), folder = StrCat(root_, "/copies/", copy);
  const auto text = data::ReadFile(folder + ".list");
  auto files = text.ok() ? ParseCopyList(*text) : Result<CopiedFiles>(NotFound(""));
  bool good = files.ok() && !files->empty();
  for (const auto& [path, file] : good ? *files : CopiedFiles()) {
    struct stat s {};
    good &= lstat((folder + "/" + path).c_str(), &s) == 0 && S_ISREG(s.st_mode) &&
            static_cast<uint64_t>(s.st_size) == file.size;
  }
  if (!good) {
    Log(LogLevel::kWarning,
        StrCat("the copy of model '", model, "' in the repository cache is damaged and is not used"));
    return false;
  }
  models_[model] = {copy, std::move(*files)};
  return true;
}

std::vector<std::string> CacheFolder::Models() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [name, model] : models_) names.push_back(name);
  return names;
}

bool CacheFolder::Has(const std::string& model) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = models_.find(model);
  return found != models_.end() && !found->second.copy.empty();
}

CopiedFiles CacheFolder::Current(const std::string& model) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = models_.find(model);
  return found == models_.end() ? CopiedFiles() : found->second.files;
}

// Counts a file of a model once, however many links it has.
uint64_t CacheFolder::Bytes() const {
  std::set<std::pair<uint64_t, uint64_t>> seen;
  uint64_t bytes = 0;
  std::error_code error;
  for (const char* folder : {"/copies", "/incoming"})
    for (fs::recursive_directory_iterator it(root_ + folder, error), end; !error && it != end;
         it.increment(error)) {
      struct stat s {};
      if (it.depth() == 0) continue;  // the list of a copy
      if (lstat(it->path().c_str(), &s) == 0 && S_ISREG(s.st_mode) && seen.emplace(s.st_dev, s.st_ino).second)
        bytes += static_cast<uint64_t>(s.st_size);
    }
  return bytes;
}

uint64_t CacheFolder::FreeBytes() {
  struct statvfs disk {};
  if (statvfs(root_.c_str(), &disk) != 0) return 0;
  const uint64_t free = static_cast<uint64_t>(disk.f_bavail) * disk.f_frsize;
  uint64_t room = free > kReserve ? free - kReserve : 0;
  if (most_) {
    const uint64_t used = Bytes();
    room = std::min(room, most_ > used ? most_ - used : 0);
  }
  for (const Room* other : rooms_) {
    struct stat s {};
    const uint64_t written = lstat(other->path_.c_str(), &s) == 0 ? static_cast<uint64_t>(s.st_size) : 0;
    if (other->bytes_ > written) room -= std::min(room, other->bytes_ - written);
  }
  return room;
}

void CacheFolder::Free(const Room& room) {
  const std::lock_guard<std::mutex> lock(mutex_);
  rooms_.erase(&room);
}

uint64_t CacheFolder::FreeUp(uint64_t bytes) {
  uint64_t room = FreeBytes();
  for (size_t i = 0; room < bytes && i < replaced_.size();) {
    if (Prune(replaced_[i]))
      replaced_.erase(replaced_.begin() + static_cast<std::ptrdiff_t>(i));
    else
      ++i;
    room = FreeBytes();
  }
  return room;
}

Status CacheFolder::NoRoom(uint64_t room, const std::string& needed) const {
  return ResourceExhausted("the repository cache has room for ", room, " bytes, but the new files have ",
                           needed, most_ ? StrCat(" (limit: ", most_, " bytes)") : " (the disk is full)");
}

Result<std::unique_ptr<CacheFolder::Room>> CacheFolder::MakeRoom(const std::string& path, uint64_t bytes) {
  std::unique_ptr<Room> out(new Room(*this, path, bytes));
  const std::lock_guard<std::mutex> lock(mutex_);
  const uint64_t room = FreeUp(bytes);
  if (room < bytes) return NoRoom(room, StrCat(bytes));
  rooms_.insert(out.get());
  return out;
}

// Reserves an eighth more than necessary, because it is slow to find the free space.
Status CacheFolder::Room::Grow(uint64_t bytes) {
  if (bytes <= bytes_) return {};
  const std::lock_guard<std::mutex> lock(cache_.mutex_);
  const uint64_t extra = bytes - bytes_, room = cache_.FreeUp(extra);
  if (room < extra) return cache_.NoRoom(bytes_ + room, StrCat("at least ", bytes));
  bytes_ += std::min(room, std::max(extra, std::min(bytes / 8, kMostGrowth)));
  return {};
}

void CacheFolder::RemoveReplaced(std::chrono::seconds age) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto before = std::chrono::steady_clock::now() - age;
  std::erase_if(replaced_, [&](Replaced& entry) {
    return entry.since <= before && entry.pruned != changes_ && Prune(entry);
  });
}

std::shared_ptr<const void> CacheFolder::Keep(const std::string& folder, const std::string& version) {
  const fs::path path(folder);
  if (path.parent_path() != root_ + "/copies") return nullptr;
  const auto user = std::make_shared<const char>();
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<Use>& uses = uses_[path.filename()];
  std::erase_if(uses, [](const Use& use) { return use.user.expired(); });
  uses.push_back({version, user});
  return user;
}

std::set<std::string> CacheFolder::KeptVersions(const std::string& copy) {
  std::set<std::string> versions;
  const auto found = uses_.find(copy);
  if (found == uses_.end()) return versions;
  std::erase_if(found->second, [](const Use& use) { return use.user.expired(); });
  for (const Use& use : found->second) versions.insert(use.version);
  if (versions.empty()) uses_.erase(found);
  return versions;
}

bool CacheFolder::Prune(Replaced& replaced) {
  const std::set<std::string> kept = KeptVersions(replaced.copy);
  std::set<std::pair<uint64_t, uint64_t>> shared;
  struct stat s {};
  for (const auto& [name, model] : models_)
    for (const auto& [path, file] : model.files)
      if (lstat(StrCat(root_, "/copies/", model.copy, "/", path).c_str(), &s) == 0)
        shared.emplace(s.st_dev, s.st_ino);
  std::error_code error;
  std::vector<std::string> unused;
  bool used = false;
  const std::string folder = StrCat(root_, "/copies/", replaced.copy);
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (lstat(it->path().c_str(), &s) != 0 || !S_ISREG(s.st_mode)) continue;
    const std::string unit = it.depth() > 0 ? it->path().lexically_relative(folder).begin()->string() : "";
    const bool needed = !kept.empty() && (!IsVersion(unit) || kept.count(unit));
    if (needed || shared.count({s.st_dev, s.st_ino}))
      used = true;
    else
      unused.push_back(it->path());
  }
  replaced.pruned = kept.empty() ? changes_ : 0;
  for (const std::string& file : unused) unlink(file.c_str());
  if (!used) RemoveCopy(replaced.copy);
  return !used;
}

void CacheFolder::RemoveCopy(const std::string& copy) {
  RemoveAll(StrCat(root_, "/copies/", copy));
  RemoveAll(StrCat(root_, "/copies/", copy, ".list"));
}

// A model name may be as long as a file name, so an id contains a hash of it.
std::string CacheFolder::NewId(const std::string& model) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return StrCat(Hex(Sha256(model)).substr(0, 16), "-", UnixNow(), "-", static_cast<int64_t>(getpid()), "-",
                ++next_);
}

Result<std::unique_ptr<CacheFolder::NewCopy>> CacheFolder::Begin(const std::string& model) {
  const std::string folder = StrCat(root_, "/incoming/", NewId(model));
  TERN_TRY(data::MakeFolders(folder));
  std::string current;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (const auto found = models_.find(model); found != models_.end() && !found->second.copy.empty())
    current = StrCat(root_, "/copies/", found->second.copy);
  return std::unique_ptr<NewCopy>(new NewCopy(folder, current));
}

CacheFolder::NewCopy::~NewCopy() {
  if (!folder_.empty()) RemoveAll(folder_);
}

Result<std::string> CacheFolder::NewCopy::PathFor(const std::string& file) const {
  TERN_TRY(CheckKey(file));
  const std::string path = StrCat(folder_, "/", file);
  TERN_TRY(data::MakeFolders(fs::path(path).parent_path()));
  return path;
}

bool CacheFolder::NewCopy::Link(const std::string& file, const CopiedFile& current) {
  const auto path = PathFor(file);
  if (current_.empty() || !path.ok()) return false;
  if (link(StrCat(current_, "/", file).c_str(), path->c_str()) != 0) return false;
  files_[file] = current;
  return true;
}

void CacheFolder::NewCopy::Remove(const std::string& file) {
  unlink(StrCat(folder_, "/", file).c_str());
  files_.erase(file);
}

// A rename replaces the old link, so that a reader sees one of the two copies.
Status CacheFolder::PointTo(const std::string& model, const std::string& target) {
  const std::string temporary = StrCat(root_, "/incoming/link-", Hex(Sha256(model)).substr(0, 16));
  unlink(temporary.c_str());
  if (symlink(target.c_str(), temporary.c_str()) != 0 ||
      rename(temporary.c_str(), StrCat(models(), "/", model).c_str()) != 0)
    return IoError("cannot publish model '", model, "' in the repository cache: ", std::strerror(errno));
  SyncFolder(models());
  return {};
}

Status CacheFolder::Publish(const std::string& model, NewCopy& copy) {
  const std::string id = fs::path(copy.folder_).filename(), place = StrCat(root_, "/copies/", id);
  TERN_TRY(data::WriteFile(place + ".list", WriteCopyList(copy.files_)));
  SyncFolder(copy.folder_);
  const bool moved = rename(copy.folder_.c_str(), place.c_str()) == 0;
  const Status status = moved ? PointTo(model, "../copies/" + id)
                              : IoError("cannot publish model '", model, "': ", std::strerror(errno));
  if (!status.ok()) {
    RemoveCopy(id);
    return status;
  }
  SyncFolder(root_ + "/copies");
  copy.folder_.clear();
  const std::lock_guard<std::mutex> lock(mutex_);
  Model& entry = models_[model];
  ++changes_;
  if (!entry.copy.empty()) replaced_.push_back({entry.copy, std::chrono::steady_clock::now()});
  entry = {id, copy.files_};
  return {};
}

Status CacheFolder::AddName(const std::string& model) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!models_.emplace(model, Model()).second) return {};
  }
  return PointTo(model, "../none");
}

void CacheFolder::Remove(const std::string& model) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = models_.find(model);
  if (found == models_.end()) return;
  unlink(StrCat(models(), "/", model).c_str());
  ++changes_;
  if (!found->second.copy.empty())
    replaced_.push_back({found->second.copy, std::chrono::steady_clock::now()});
  models_.erase(found);
}

}  // namespace tern::server
