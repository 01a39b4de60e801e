// The key of a request in the response cache.
#pragma once
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "server/core/message.h"

namespace tern::server {

// A SHA-256 digest. Two different requests have the same key with probability 2^-256. A client that searches
// for two such requests needs about 2^128 attempts. So a hit is not compared with the request whose response
// was stored.
struct CacheKey {
  std::array<uint8_t, 32> bytes{};
  bool operator==(const CacheKey&) const = default;
  std::string Hex() const;
};

struct CacheKeyHash {
  size_t operator()(const CacheKey& key) const {
    size_t value = 0;
    std::memcpy(&value, key.bytes.data(), sizeof value);
    return value;
  }
};

// Computes a SHA-256 digest of several parts. Each part is preceded by its length, so that different lists of
// parts never give the same bytes.
class Digest {
 public:
  Digest();
  ~Digest();
  Digest(const Digest&) = delete;
  Digest& operator=(const Digest&) = delete;
  void Add(std::string_view part);
  void Add(uint64_t number);
  // Adds bytes without their length.
  void AddRaw(const void* data, size_t size);
  CacheKey Finish();  // the digest starts again afterwards

 private:
  void Flush();
  void* context_;
  // Short parts are collected, because a call of the library takes longer than hashing them.
  std::array<uint8_t, 512> waiting_;
  size_t size_ = 0;
};

// `identity` stands for the version that answers the request. Everything in the request that a response may
// depend on is part of the key: the inputs in any order, the requested outputs with their order and their
// classifications, and the parameters if the model can read them. The id of a request is part of the key only
// if the response contains it.
CacheKey KeyOf(std::string_view identity, bool reads_parameters, const Request& request);

}  // namespace tern::server
