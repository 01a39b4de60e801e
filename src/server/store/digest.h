// Hashes, signatures and Base64, by OpenSSL.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"

namespace tern::server {

std::string Hex(std::string_view bytes);
bool FromHex(std::string_view text, std::string& out);
std::string EncodeBase64Url(std::string_view bytes);  // the alphabet for URLs, without padding

std::string Sha256(std::string_view text);  // 32 bytes
std::string HmacSha256(std::string_view key, std::string_view text);
// Signs with RSASSA-PKCS1-v1_5 and SHA-256. `key` is a private key in PEM.
Result<std::string> SignRs256(const std::string& key, std::string_view text);

// Computes MD5 and SHA-256 of a text that arrives in pieces.
class Digests {
 public:
  Digests();
  ~Digests();
  Digests(const Digests&) = delete;
  Digests& operator=(const Digests&) = delete;
  void Restart();
  void Add(std::string_view bytes);
  // In hexadecimal. No Add may follow.
  std::string Sha256Hex();
  std::string Md5Hex();  // empty if the system's OpenSSL has no MD5

 private:
  struct Contexts;
  std::unique_ptr<Contexts> contexts_;
};

}  // namespace tern::server
