// Tokens for Google Cloud Storage.
#pragma once
#include <mutex>
#include <string>

#include "server/store/store_url.h"

namespace tern::server {

// Thread-safe. Sources, in this order: GOOGLE_OAUTH_ACCESS_TOKEN; the file GOOGLE_APPLICATION_CREDENTIALS (a
// service account or an authorized user); the metadata server of the machine, if it answers and
// STORAGE_EMULATOR_HOST is not set. Without a source, and with StoreOptions::anonymous, requests are
// anonymous.
class GoogleAccount {
 public:
  GoogleAccount(const StoreOptions& options, HttpClient& client) : options_(options), client_(client) {}
  // Returns the value of the Authorization field; empty: the request is anonymous.
  Result<std::string> Authorization(const Stop& stop);
  void Forget();

 private:
  struct Token {
    std::string text;
    int64_t expires = INT64_MAX;  // seconds since 1970
  };
  Result<Token> Find(const Stop& stop);
  Result<Token> FromFile(const std::string& path, const Stop& stop);
  Result<Token> FromMachine(const Stop& stop);
  Result<Token> Ask(const std::string& url, HttpRequest request, const Stop& stop);

  const StoreOptions options_;
  HttpClient& client_;
  std::mutex mutex_;
  Token token_;
  bool known_ = false;
};

// Returns the signed assertion (a JWT, RFC 7523) that a service account exchanges for a token.
Result<std::string> ServiceAccountAssertion(const std::string& email, const std::string& key_id,
                                            const std::string& key, const std::string& audience, int64_t now);

}  // namespace tern::server
