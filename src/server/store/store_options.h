// Settings of remote repositories.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace tern::server {

enum class S3Addressing { kAuto, kPath, kVirtualHost };

using StoreEnvironment = std::function<const char*(const char* name)>;

struct StoreOptions {
  std::string cache_folder;  // empty: a temporary folder, removed at the end
  uint64_t cache_bytes = 0;  // limit on the copies of one repository; 0: what the disk has
  std::chrono::seconds settle{
      10};  // a version without checksums is copied if it did not change for this time
  std::chrono::milliseconds timeout{30000};  // without a byte from the store
  int attempts = 5;
  std::string authorities;  // a PEM file for https; empty: those of the system
  std::string s3_endpoint;  // https://HOST:PORT; empty: AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, or Amazon's
  std::string s3_region;    // empty: AWS_REGION, AWS_DEFAULT_REGION, the profile's, or us-east-1
  S3Addressing s3_addressing = S3Addressing::kAuto;
  bool anonymous = false;        // requests are not signed
  StoreEnvironment environment;  // null: that of the process
};

}  // namespace tern::server
