// A repository on a web server. SHA256SUMS at its root lists the files.
#include "server/store/store_url.h"
#include "server/store/sums.h"

namespace tern::server {
namespace {

constexpr uint64_t kMaxIndexBytes = 32 << 20;
constexpr int kRedirects = 3;

class WebStore : public ObjectStore {
 public:
  WebStore(const StoreUrl& url, Url root, std::string token, std::unique_ptr<HttpClient> client)
      : text_(url.text), root_(std::move(root)), token_(std::move(token)), client_(std::move(client)) {
    while (!root_.path.empty() && root_.path.back() == '/') root_.path.pop_back();
  }

  Result<std::vector<ObjectInfo>> List(const std::string& folder, const Stop& stop) override {
    HttpRequest request;
    request.fields = Fields();
    request.redirects = kRedirects;
    request.max_body_bytes = kMaxIndexBytes;
    TERN_ASSIGN(const HttpAnswer answer, client_->Send(Place(kSumsFile), request, stop));
    if (answer.status != 200) return StoreError(answer, StrCat("cannot read ", kSumsFile, " of ", text_));
    TERN_ASSIGN(const auto sums, ParseSums(answer.body, kMaxObjects));
    std::vector<ObjectInfo> all;
    for (const auto& [name, sum] : sums) {
      if (!folder.empty() && !StartsWith(name, folder + "/")) continue;
      ObjectInfo object;
      object.key = name;
      object.size_known = false;
      object.version = object.sha256 = sum;
      object.complete = true;
      all.push_back(std::move(object));
    }
    return all;
  }

  Result<FetchedSums> Fetch(const ObjectInfo& object, uint64_t offset, const ObjectSink& sink,
                            const Stop& stop) override {
    HttpFields fields = Fields();
    if (offset) fields.emplace_back("Range", StrCat("bytes=", offset, "-"));
    TERN_ASSIGN(const HttpAnswer answer, GetObject(*client_, Place(object.key), std::move(fields), object,
                                                   offset, sink, kRedirects, stop));
    // The range is behind the end, so the whole content is fetched again.
    if (answer.status == 416 && offset) return Fetch(object, 0, sink, stop);
    if (answer.status != 200 && answer.status != 206)
      return StoreError(answer, StrCat("cannot fetch '", object.key, "' of ", text_));
    return FetchedSums{};
  }

 private:
  Url Place(const std::string& name) const {
    Url place = root_;
    place.path += "/" + PercentEncode(name, true);
    return place;
  }
  HttpFields Fields() const {
    if (token_.empty()) return {};
    return {{"Authorization", "Bearer " + token_}};
  }

  const std::string text_;
  Url root_;
  const std::string token_;
  const std::unique_ptr<HttpClient> client_;
};

}  // namespace

Result<std::unique_ptr<ObjectStore>> OpenWeb(const StoreUrl& url, const StoreOptions& options) {
  TERN_ASSIGN(const Url root, ParseUrl(url.prefix, 0));
  const std::string token = Variable(options, "TERN_STORE_TOKEN");
  if (!token.empty() && !root.tls)
    return InvalidArgument("TERN_STORE_TOKEN is sent over https only; '", url.text, "' is http");
  if (token.find_first_of("\r\n") != std::string::npos)
    return InvalidArgument("TERN_STORE_TOKEN has a line end");
  TERN_ASSIGN(std::unique_ptr<HttpClient> client, StoreClient(options));
  return std::unique_ptr<ObjectStore>(new WebStore(url, root, token, std::move(client)));
}

}  // namespace tern::server
