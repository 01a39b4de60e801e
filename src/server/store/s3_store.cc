// Amazon S3 and services with the same interface, such as MinIO and Ceph.
#include <atomic>

#include "server/http/base64.h"
#include "server/store/aws_account.h"
#include "server/store/digest.h"
#include "server/store/s3_list.h"
#include "server/store/times.h"

namespace tern::server {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

constexpr uint64_t kMaxPageBytes = 16 << 20;

bool SimpleName(const std::string& bucket) {
  for (const char c : bucket)
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-')) return false;
  return bucket.size() <= 63;
}

class S3Store : public ObjectStore {
 public:
  S3Store(const StoreUrl& url, const StoreOptions& options, std::unique_ptr<HttpClient> client)
      : url_(url),
        options_(options),
        client_(std::move(client)),
        account_(options, *client_),
        region_(account_.Region()) {}

  Result<std::vector<ObjectInfo>> List(const std::string& folder, const Stop& stop) override;
  Result<FetchedSums> Fetch(const ObjectInfo& object, uint64_t offset, const ObjectSink& sink,
                            const Stop& stop) override;
  Status CheckEndpoint() const;

 private:
  using Exchange = std::function<Result<HttpAnswer>(const Url& url, HttpFields fields)>;
  std::string Endpoint() const;
  // Returns the URL of a key. S3Addressing decides whether the bucket is a part of the host.
  Result<Url> PlaceOfKey(const std::string& key, const std::string& region) const;
  // Signs a GET and lets `exchange` send it. Signs again for the region that the store names, and with fresh
  // credentials if the store says that they have expired.
  Result<HttpAnswer> Send(const std::string& key, const Pairs& query, const Pairs& signed_fields,
                          const Exchange& exchange, const Stop& stop);
  std::string region() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return region_;
  }

  const StoreUrl url_;
  const StoreOptions options_;
  const std::unique_ptr<HttpClient> client_;
  AwsAccount account_;
  mutable std::mutex mutex_;
  std::string region_;
};

std::string S3Store::Endpoint() const {
  if (!url_.endpoint.empty()) return url_.endpoint;
  if (!options_.s3_endpoint.empty()) return options_.s3_endpoint;
  const std::string own = Variable(options_, "AWS_ENDPOINT_URL_S3");
  return own.empty() ? Variable(options_, "AWS_ENDPOINT_URL") : own;
}

Status S3Store::CheckEndpoint() const { return PlaceOfKey("", region()).status(); }

Result<Url> S3Store::PlaceOfKey(const std::string& key, const std::string& region) const {
  const std::string endpoint = Endpoint();
  const bool amazon = endpoint.empty();
  const std::string zone = StartsWith(region, "cn-") ? ".amazonaws.com.cn" : ".amazonaws.com";
  auto parsed = ParseUrl(amazon ? StrCat("https://s3.", region, zone) : endpoint, 0);
  if (!parsed.ok()) return InvalidArgument("the endpoint of S3: ", parsed.status().message());
  Url place = std::move(*parsed);
  const bool in_host = options_.s3_addressing == S3Addressing::kVirtualHost ||
                       (options_.s3_addressing == S3Addressing::kAuto && amazon && SimpleName(url_.bucket));
  while (!place.path.empty() && place.path.back() == '/') place.path.pop_back();
  if (in_host) place.host = StrCat(url_.bucket, ".", place.host);
  if (!in_host) place.path += "/" + url_.bucket;
  place.path += "/" + PercentEncode(key, true);
  return place;
}

Result<HttpAnswer> S3Store::Send(const std::string& key, const Pairs& query, const Pairs& signed_fields,
                                 const Exchange& exchange, const Stop& stop) {
  for (int attempt = 0;; ++attempt) {
    const std::string region = this->region();
    TERN_ASSIGN(Url place, PlaceOfKey(key, region));
    HttpFields fields = signed_fields;
    if (!options_.anonymous) {
      TERN_ASSIGN(const AwsCredentials credentials, account_.Credentials(stop));
      SignedRequest request{"GET", place.path, query, {}, Hex(Sha256(""))};
      const std::string time = AmzDate(UnixNow());
      fields.emplace_back("x-amz-content-sha256", request.payload_sha256);
      fields.emplace_back("x-amz-date", time);
      if (!credentials.session_token.empty())
        fields.emplace_back("x-amz-security-token", credentials.session_token);
      request.fields = fields;
      request.fields.emplace_back("host", HostField(place));
      fields.emplace_back("Authorization", SignV4(request, credentials, region, "s3", time));
    }
    if (!query.empty()) place.path += "?" + CanonicalQuery(query);
    TERN_ASSIGN(HttpAnswer answer, exchange(place, std::move(fields)));
    if (answer.status < 300 || attempt == 2) return answer;
    const std::string* home = answer.Find("x-amz-bucket-region");
    if (home && !home->empty() && *home != region && SimpleName(*home)) {
      const std::lock_guard<std::mutex> lock(mutex_);
      region_ = *home;
    } else if (answer.body.find("<Code>ExpiredToken</Code>") != std::string::npos) {
      account_.Forget();
    } else {
      return answer;
    }
  }
}

Result<std::vector<ObjectInfo>> S3Store::List(const std::string& folder, const Stop& stop) {
  const std::string base = url_.prefix.empty() ? "" : url_.prefix + "/";
  const std::string prefix = folder.empty() ? base : StrCat(base, folder, "/");
  std::vector<ObjectInfo> all;
  std::string token;
  do {
    Pairs query{{"list-type", "2"}, {"encoding-type", "url"}, {"max-keys", "1000"}};
    if (!prefix.empty()) query.emplace_back("prefix", prefix);
    if (!token.empty()) query.emplace_back("continuation-token", token);
    const auto exchange = [&](const Url& place, HttpFields fields) {
      HttpRequest request;
      request.fields = std::move(fields);
      request.max_body_bytes = kMaxPageBytes;
      return client_->Send(place, request, stop);
    };
    TERN_ASSIGN(const HttpAnswer answer, Send("", query, {}, exchange, stop));
    if (answer.status != 200) return StoreError(answer, StrCat("cannot list ", url_.text));
    const std::string* date = answer.Find("date");
    TERN_ASSIGN(ListPage page, ParseListPage(answer.body, date ? ParseHttpTime(*date).value_or(-1) : -1));
    for (ObjectInfo& object : page.objects) {
      if (!StartsWith(object.key, prefix))
        return IoError("the store lists objects outside the prefix that was asked for");
      if (all.size() == kMaxObjects)
        return ResourceExhausted(url_.text, " has more than ", kMaxObjects, " objects");
      object.key.erase(0, base.size());
      all.push_back(std::move(object));
    }
    if (!page.next.empty() && (page.next == token || page.objects.empty()))
      return IoError("the list of objects does not end");
    token = std::move(page.next);
  } while (!token.empty());
  return all;
}

// The ETag of an object is its MD5, unless it was uploaded in parts or is encrypted with a key of its owner.
std::string Md5Of(const HttpAnswer& head, std::string etag) {
  const std::string* encryption = head.Find("x-amz-server-side-encryption");
  if ((encryption && StartsWith(*encryption, "aws:kms")) ||
      head.Find("x-amz-server-side-encryption-customer-algorithm"))
    return {};
  if (etag.size() == 34 && etag.front() == '"' && etag.back() == '"') etag = etag.substr(1, 32);
  std::string ignored;
  return etag.size() == 32 && FromHex(etag, ignored) ? etag : "";
}

Result<FetchedSums> S3Store::Fetch(const ObjectInfo& object, uint64_t offset, const ObjectSink& sink,
                                   const Stop& stop) {
  const auto exchange = [&](const Url& place, HttpFields fields) {
    if (object.version.find('|') == std::string::npos) fields.emplace_back("If-Match", object.version);
    if (offset) fields.emplace_back("Range", StrCat("bytes=", offset, "-"));
    return GetObject(*client_, place, std::move(fields), object, offset, sink, 0, stop);
  };
  const std::string key = url_.prefix.empty() ? object.key : StrCat(url_.prefix, "/", object.key);
  TERN_ASSIGN(const HttpAnswer answer, Send(key, {}, {{"x-amz-checksum-mode", "ENABLED"}}, exchange, stop));
  if (answer.status != 200 && answer.status != 206)
    return StoreError(answer, StrCat("cannot fetch '", object.key, "' of ", url_.text));
  FetchedSums sums;
  sums.md5 = Md5Of(answer, object.version);
  // A checksum of parts ends with their number: "…=-3".
  std::string bytes;
  if (const std::string* sha = answer.Find("x-amz-checksum-sha256");
      sha && sha->find('-') == std::string::npos && DecodeBase64(*sha, bytes))
    sums.sha256 = Hex(bytes);
  return sums;
}

}  // namespace

Result<std::unique_ptr<ObjectStore>> OpenS3(const StoreUrl& url, const StoreOptions& options) {
  TERN_ASSIGN(std::unique_ptr<HttpClient> client, StoreClient(options));
  auto store = std::make_unique<S3Store>(url, options, std::move(client));
  TERN_TRY(store->CheckEndpoint());
  return std::unique_ptr<ObjectStore>(std::move(store));
}

}  // namespace tern::server
