// The URL of a remote repository, and what all stores need.
#pragma once
#include <memory>
#include <string>

#include "server/net/http_client.h"
#include "server/store/object_store.h"
#include "server/store/store_options.h"

namespace tern::server {

struct StoreUrl {
  enum class Kind { kS3, kGoogle, kWeb, kFolder } kind = Kind::kS3;
  std::string text;      // as the operator wrote it, without user and query
  std::string endpoint;  // of S3, if the URL has one: s3://https://HOST:PORT/BUCKET/PREFIX
  std::string bucket;
  std::string prefix;  // without slashes at its ends; for kWeb and kFolder: the URL or path
};

// Returns whether the name of a repository is a URL, not a folder.
bool IsStoreUrl(const std::string& repository);
// Parses s3://BUCKET/PREFIX, gs://BUCKET/PREFIX, https://HOST/PATH, http://HOST/PATH and file:///PATH.
Result<StoreUrl> ParseStoreUrl(const std::string& text);

Result<std::unique_ptr<ObjectStore>> OpenStore(const StoreUrl& url, const StoreOptions& options);

// Each of these functions opens one kind of store.
Result<std::unique_ptr<ObjectStore>> OpenS3(const StoreUrl& url, const StoreOptions& options);
Result<std::unique_ptr<ObjectStore>> OpenGoogle(const StoreUrl& url, const StoreOptions& options);
Result<std::unique_ptr<ObjectStore>> OpenWeb(const StoreUrl& url, const StoreOptions& options);
Result<std::unique_ptr<ObjectStore>> OpenFolder(const StoreUrl& url);

// The value of an environment variable; empty if it is not set.
std::string Variable(const StoreOptions& options, const char* name);
// A client with the time limits and authorities of the options.
Result<std::unique_ptr<HttpClient>> StoreClient(const StoreOptions& options);

// Returns the error of a failed request: kIo for statuses after which a retry may succeed (408, 429, 5xx),
// kNotFound for 404, kUnavailable for 412, else kInvalidArgument. The message quotes the start of the answer.
Status StoreError(const HttpAnswer& answer, const std::string& what);

// Runs a GET whose body goes to `sink`, from `offset` on.
Result<HttpAnswer> GetObject(HttpClient& client, const Url& url, HttpFields fields, const ObjectInfo& object,
                             uint64_t offset, const ObjectSink& sink, int redirects, const Stop& stop);

}  // namespace tern::server
