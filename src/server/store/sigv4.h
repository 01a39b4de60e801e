// Signs requests to AWS and compatible services: Signature Version 4.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace tern::server {

struct AwsCredentials {
  std::string access_key, secret_key;
  std::string session_token;  // of temporary credentials; empty: none
};

struct SignedRequest {
  std::string method;
  std::string path;                                        // percent-encoded, as it is sent
  std::vector<std::pair<std::string, std::string>> query;  // not encoded
  std::vector<std::pair<std::string, std::string>>
      fields;                  // every field to sign, including Host and X-Amz-Date
  std::string payload_sha256;  // in hexadecimal
};

// Returns the value of the Authorization field. `time` is the value of X-Amz-Date: 20150830T123600Z.
std::string SignV4(const SignedRequest& request, const AwsCredentials& credentials, const std::string& region,
                   const std::string& service, const std::string& time);

// The query as it is sent: sorted and percent-encoded, without '?'.
std::string CanonicalQuery(std::vector<std::pair<std::string, std::string>> query);

// Formats seconds since 1970 as 20150830T123600Z.
std::string AmzDate(int64_t unix_seconds);

}  // namespace tern::server
