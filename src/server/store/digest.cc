#include "server/store/digest.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/sha.h>

#include "server/net/freed.h"

namespace tern::server {
namespace {

const unsigned char* Bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

using Context = std::unique_ptr<EVP_MD_CTX, Freed<EVP_MD_CTX, EVP_MD_CTX_free>>;

std::string Finish(EVP_MD_CTX* context) {
  unsigned char out[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  if (EVP_DigestFinal_ex(context, out, &size) != 1) return {};
  return Hex({reinterpret_cast<const char*>(out), size});
}

}  // namespace

std::string Hex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    out += kDigits[static_cast<unsigned char>(c) >> 4];
    out += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return out;
}

bool FromHex(std::string_view text, std::string& out) {
  out.clear();
  const auto value = [](char c) {
    return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
  };
  if (text.size() % 2) return false;
  for (size_t i = 0; i < text.size(); i += 2) {
    const int high = value(text[i]), low = value(text[i + 1]);
    if (high < 0 || low < 0) return false;
    out += static_cast<char>(high * 16 + low);
  }
  return true;
}

std::string EncodeBase64Url(std::string_view bytes) {
  std::string out((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()), Bytes(bytes),
                                   static_cast<int>(bytes.size()));
  out.resize(static_cast<size_t>(size));
  while (!out.empty() && out.back() == '=') out.pop_back();
  for (char& c : out) c = c == '+' ? '-' : c == '/' ? '_' : c;
  return out;
}

std::string Sha256(std::string_view text) {
  std::string out(SHA256_DIGEST_LENGTH, '\0');
  SHA256(Bytes(text), text.size(), reinterpret_cast<unsigned char*>(out.data()));
  return out;
}

std::string HmacSha256(std::string_view key, std::string_view text) {
  std::string out(SHA256_DIGEST_LENGTH, '\0');
  unsigned size = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), Bytes(text), text.size(),
       reinterpret_cast<unsigned char*>(out.data()), &size);
  return out;
}

Result<std::string> SignRs256(const std::string& key, std::string_view text) {
  const std::unique_ptr<BIO, Freed<BIO, BIO_free_all>> file(
      BIO_new_mem_buf(key.data(), static_cast<int>(key.size())));
  // The callback keeps OpenSSL from asking for a password on the terminal.
  const auto no_password = [](char*, int, int, void*) { return -1; };
  const std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY, EVP_PKEY_free>> pkey(
      file ? PEM_read_bio_PrivateKey(file.get(), nullptr, no_password, nullptr) : nullptr);
  const Context context(EVP_MD_CTX_new());
  size_t size = 0;
  std::string out;
  bool ok = pkey && context && EVP_PKEY_is_a(pkey.get(), "RSA") &&
            EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, pkey.get()) == 1 &&
            EVP_DigestSign(context.get(), nullptr, &size, Bytes(text), text.size()) == 1;
  if (ok) {
    out.resize(size);
    ok = EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(out.data()), &size, Bytes(text),
                        text.size()) == 1;
  }
  ERR_clear_error();
  if (!ok) return InvalidArgument("the private key is not an RSA key in PEM");
  out.resize(size);
  return out;
}

struct Digests::Contexts {
  Context md5{EVP_MD_CTX_new()}, sha256{EVP_MD_CTX_new()};
  bool has_md5 = false;
};

Digests::Digests() : contexts_(std::make_unique<Contexts>()) { Restart(); }
Digests::~Digests() = default;

void Digests::Restart() {
  EVP_DigestInit_ex(contexts_->sha256.get(), EVP_sha256(), nullptr);
  contexts_->has_md5 = EVP_DigestInit_ex(contexts_->md5.get(), EVP_md5(), nullptr) == 1;  // not with FIPS
  ERR_clear_error();
}

void Digests::Add(std::string_view bytes) {
  EVP_DigestUpdate(contexts_->sha256.get(), bytes.data(), bytes.size());
  if (contexts_->has_md5) EVP_DigestUpdate(contexts_->md5.get(), bytes.data(), bytes.size());
}

std::string Digests::Sha256Hex() { return Finish(contexts_->sha256.get()); }
std::string Digests::Md5Hex() { return contexts_->has_md5 ? Finish(contexts_->md5.get()) : ""; }

}  // namespace tern::server
