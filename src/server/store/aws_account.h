// Finds the credentials and the region of AWS in the places that other tools of AWS use.
#pragma once
#include <mutex>

#include "server/store/sigv4.h"
#include "server/store/store_url.h"

namespace tern::server {

// Thread-safe. Sources, in this order: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; AWS_ROLE_ARN with
// AWS_WEB_IDENTITY_TOKEN_FILE; the profile AWS_PROFILE of the files of credentials and of settings
// (AWS_SHARED_CREDENTIALS_FILE, AWS_CONFIG_FILE);
// the end point of the container (AWS_CONTAINER_CREDENTIALS_FULL_URI or _RELATIVE_URI); the metadata of the
// EC2 instance, unless AWS_EC2_METADATA_DISABLED is true.
class AwsAccount {
 public:
  AwsAccount(const StoreOptions& options, HttpClient& client) : options_(options), client_(client) {}

  // Returns credentials that are valid for at least a minute. Fails with kIo if a source does not answer,
  // and with kInvalidArgument if there is none.
  Result<AwsCredentials> Credentials(const Stop& stop);
  // Drops the cached credentials, for example because the store says that they have expired.
  void Forget();
  std::string Region() const;

 private:
  struct Found {
    AwsCredentials credentials;
    int64_t expires = INT64_MAX;  // seconds since 1970
  };
  std::string Var(const char* name) const { return Variable(options_, name); }
  Result<Found> Find(const Stop& stop);
  Result<Found> FromRole(const Stop& stop);
  Result<Found> FromFile() const;
  Result<Found> FromContainer(const Stop& stop);
  Result<Found> FromInstance(const Stop& stop);
  std::string FileSetting(const std::string& variable, const std::string& file, bool config,
                          const std::string& key) const;

  const StoreOptions options_;
  HttpClient& client_;
  std::mutex mutex_;
  Found found_;
  bool known_ = false;
};

}  // namespace tern::server
