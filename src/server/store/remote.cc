#include "server/store/remote.h"

#include <cstdlib>
#include <filesystem>

#include "server/store/digest.h"

namespace tern::server {
namespace {

namespace fs = std::filesystem;

// A readable name for the folder of a repository's copies, unique by a hash.
std::string FolderName(const StoreUrl& url) {
  std::string name;
  for (const char c : url.text.substr(url.text.find("://") + 3)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
    name += plain ? c : '_';
  }
  return StrCat(name.substr(0, 80), "-", Hex(Sha256(url.text)).substr(0, 16));
}

Result<std::string> TemporaryCache() {
  std::error_code error;
  std::string path = (fs::temp_directory_path(error) / "tern-repository-XXXXXX").string();
  if (error || !mkdtemp(path.data()))
    return IoError("no temporary folder can be created for copies of models; --repository-cache names one");
  return path;
}

}  // namespace

Result<std::unique_ptr<RemoteRepositories>> RemoteRepositories::Open(const StoreOptions& options,
                                                                     std::vector<std::string>& folders) {
  std::unique_ptr<RemoteRepositories> remote(new RemoteRepositories());
  std::string cache = options.cache_folder;
  for (std::string& folder : folders) {
    if (!IsStoreUrl(folder)) continue;
    TERN_ASSIGN(const StoreUrl url, ParseStoreUrl(folder));
    TERN_ASSIGN(std::unique_ptr<ObjectStore> store, OpenStore(url, options));
    if (cache.empty()) {
      TERN_ASSIGN(cache, TemporaryCache());
      remote->temporary_ = cache;
    }
    TERN_ASSIGN(std::unique_ptr<CacheFolder> local,
                CacheFolder::Open(StrCat(cache, "/", FolderName(url)), url.text, options.cache_bytes));
    remote->mirrors_.push_back(
        std::make_unique<Mirror>(url.text, std::move(store), std::move(local), options));
    folder = remote->mirrors_.back()->folder();
  }
  if (remote->mirrors_.empty()) remote.reset();
  return remote;
}

RemoteRepositories::~RemoteRepositories() {
  mirrors_.clear();
  std::error_code ignored;
  if (!temporary_.empty()) fs::remove_all(temporary_, ignored);
}

Status RemoteRepositories::Refresh(const WantedModels& wanted, bool start) {
  Status first;
  std::error_code ignored;
  for (const auto& mirror : mirrors_) {
    const Status status = mirror->Refresh(wanted, start, stop());
    if (status.code() == Code::kCancelled) return status;
    if (!status.ok() && first.ok() && fs::is_empty(mirror->folder(), ignored))
      first = Status(status.code(), StrCat("repository ", mirror->url(),
                                           " cannot be read, and there are no copies: ", status.message()));
  }
  return first;
}

Status RemoteRepositories::Update(const std::string& model) {
  for (const auto& mirror : mirrors_) TERN_TRY(mirror->Update(model, stop()));
  return {};
}

std::shared_ptr<const void> RemoteRepositories::Keep(const std::string& folder, const std::string& version) {
  for (const auto& mirror : mirrors_)
    if (auto kept = mirror->Keep(folder, version)) return kept;
  return nullptr;
}

void RemoteRepositories::AppendMetrics(MetricsText& text) const {
  const auto family = [&](const char* name, const char* type, const char* help, auto value) {
    text.Family(name, type, help);
    for (const auto& mirror : mirrors_)
      text.Sample(name, {{"repository", mirror->url()}}, uint64_t(value(mirror->counters())));
  };
  using Counters = MirrorCounters;
  family("tern_repository_up", "gauge", "1 if the last listing of the remote repository succeeded",
         [](const Counters& c) { return c.reachable.load() ? 1 : 0; });
  family("tern_repository_listed_timestamp_seconds", "gauge", "Time of the last complete listing",
         [](const Counters& c) { return c.listed.load(); });
  family("tern_repository_failed_listings_total", "counter", "Listings that failed after all attempts",
         [](const Counters& c) { return c.failed_listings.load(); });
  family("tern_repository_failed_copies_total", "counter", "Versions that could not be copied",
         [](const Counters& c) { return c.failed_copies.load(); });
  family("tern_repository_copies_total", "counter", "Models whose local copy was replaced",
         [](const Counters& c) { return c.copies.load(); });
  family("tern_repository_retries_total", "counter", "Requests to the store that were repeated",
         [](const Counters& c) { return c.transfers.retries.load(); });
  family("tern_repository_downloaded_bytes_total", "counter", "Bytes of objects that were fetched",
         [](const Counters& c) { return c.transfers.bytes.load(); });
  family("tern_repository_cache_bytes", "gauge", "Bytes of the local copies",
         [](const Counters& c) { return c.cache_bytes.load(); });
  family("tern_repository_waiting_versions", "gauge",
         "Versions that changed a moment ago and are not copied yet",
         [](const Counters& c) { return c.waiting.load(); });
  family("tern_repository_broken_versions", "gauge", "Versions that cannot be copied",
         [](const Counters& c) { return c.broken.load(); });
}

}  // namespace tern::server
