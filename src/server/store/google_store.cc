// Google Cloud Storage, by its JSON interface.
#include "server/store/google_account.h"
#include "server/store/google_list.h"
#include "server/store/sigv4.h"
#include "server/store/times.h"

namespace tern::server {
namespace {

constexpr uint64_t kMaxGooglePage = 16 << 20;

class GoogleStore : public ObjectStore {
 public:
  GoogleStore(const StoreUrl& url, const StoreOptions& options, Url endpoint,
              std::unique_ptr<HttpClient> client)
      : url_(url), endpoint_(std::move(endpoint)), client_(std::move(client)), account_(options, *client_) {
    while (!endpoint_.path.empty() && endpoint_.path.back() == '/') endpoint_.path.pop_back();
  }

  Result<std::vector<ObjectInfo>> List(const std::string& folder, const Stop& stop) override;
  Result<FetchedSums> Fetch(const ObjectInfo& object, uint64_t offset, const ObjectSink& sink,
                            const Stop& stop) override;

 private:
  Url Place(const std::string& path) const {
    Url place = endpoint_;
    place.path += StrCat("/storage/v1/b/", PercentEncode(url_.bucket), "/o", path);
    return place;
  }
  Result<HttpFields> Fields(const Stop& stop) {
    TERN_ASSIGN(const std::string authorization, account_.Authorization(stop));
    if (authorization.empty()) return HttpFields{};
    return HttpFields{{"Authorization", authorization}};
  }

  const StoreUrl url_;
  Url endpoint_;
  const std::unique_ptr<HttpClient> client_;
  GoogleAccount account_;
};

Result<std::vector<ObjectInfo>> GoogleStore::List(const std::string& folder, const Stop& stop) {
  const std::string base = url_.prefix.empty() ? "" : url_.prefix + "/";
  const std::string prefix = folder.empty() ? base : StrCat(base, folder, "/");
  std::vector<ObjectInfo> all;
  std::string token;
  do {
    std::vector<std::pair<std::string, std::string>> query{
        {"fields", "nextPageToken,items(name,size,generation,md5Hash,updated)"}, {"maxResults", "1000"}};
    if (!prefix.empty()) query.emplace_back("prefix", prefix);
    if (!token.empty()) query.emplace_back("pageToken", token);
    HttpRequest request;
    TERN_ASSIGN(request.fields, Fields(stop));
    request.max_body_bytes = kMaxGooglePage;
    TERN_ASSIGN(const HttpAnswer answer, client_->Send(Place("?" + CanonicalQuery(query)), request, stop));
    if (answer.status == 401) account_.Forget();
    if (answer.status != 200) return StoreError(answer, StrCat("cannot list ", url_.text));
    const std::string* date = answer.Find("date");
    TERN_ASSIGN(ListPage page, ParseGooglePage(answer.body, date ? ParseHttpTime(*date).value_or(-1) : -1));
    for (ObjectInfo& object : page.objects) {
      if (!StartsWith(object.key, prefix))
        return IoError("the store lists objects outside the prefix that was asked for");
      if (all.size() == kMaxObjects)
        return ResourceExhausted(url_.text, " has more than ", kMaxObjects, " objects");
      object.key.erase(0, base.size());
      all.push_back(std::move(object));
    }
    // A page may be empty, but the tokens of two pages differ.
    if (!page.next.empty() && page.next == token) return IoError("the list of objects does not end");
    token = std::move(page.next);
  } while (!token.empty());
  return all;
}

Result<FetchedSums> GoogleStore::Fetch(const ObjectInfo& object, uint64_t offset, const ObjectSink& sink,
                                       const Stop& stop) {
  const std::string key = url_.prefix.empty() ? object.key : StrCat(url_.prefix, "/", object.key);
  TERN_ASSIGN(HttpFields fields, Fields(stop));
  if (offset) fields.emplace_back("Range", StrCat("bytes=", offset, "-"));
  fields.emplace_back("Accept-Encoding", "gzip");  // so that the store does not decompress an object that is
                                                   // stored compressed
  const Url place =
      Place(StrCat("/", PercentEncode(key), "?alt=media&ifGenerationMatch=", PercentEncode(object.version)));
  TERN_ASSIGN(const HttpAnswer answer,
              GetObject(*client_, place, std::move(fields), object, offset, sink, 0, stop));
  if (answer.status == 401) account_.Forget();
  if (answer.status != 200 && answer.status != 206)
    return StoreError(answer, StrCat("cannot fetch '", object.key, "' of ", url_.text));
  return FetchedSums{};
}

}  // namespace

Result<std::unique_ptr<ObjectStore>> OpenGoogle(const StoreUrl& url, const StoreOptions& options) {
  std::string endpoint = Variable(options, "STORAGE_EMULATOR_HOST");
  if (endpoint.empty()) endpoint = "https://storage.googleapis.com";
  auto place = ParseUrl(endpoint, 0);
  if (!place.ok()) return InvalidArgument("STORAGE_EMULATOR_HOST: ", place.status().message());
  TERN_ASSIGN(std::unique_ptr<HttpClient> client, StoreClient(options));
  return std::unique_ptr<ObjectStore>(new GoogleStore(url, options, *place, std::move(client)));
}

}  // namespace tern::server
