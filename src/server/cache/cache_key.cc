#include "server/cache/cache_key.h"

#include <openssl/evp.h>

#include <algorithm>
#include <new>
#include <numeric>

namespace tern::server {
namespace {

// Fetched once, because a fetch takes longer than the digest of a small request.
const EVP_MD* Sha256() {
  static const EVP_MD* algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  return algorithm;
}

EVP_MD_CTX* Context(void* context) { return static_cast<EVP_MD_CTX*>(context); }

// Returns the indices of a list in the order of the names of its items.
template <class List, class Name> std::vector<size_t> InOrder(const List& list, Name&& name) {
  std::vector<size_t> order(list.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return name(list[a]) < name(list[b]); });
  return order;
}

void AddParameter(const ParameterValue& value, Digest& digest) {
  digest.Add(uint64_t{value.index()});
  if (const auto* text = std::get_if<std::string>(&value)) return digest.Add(*text);
  uint64_t bits = 0;
  if (const auto* flag = std::get_if<bool>(&value)) bits = *flag ? 1 : 0;
  if (const auto* integer = std::get_if<int64_t>(&value)) std::memcpy(&bits, integer, sizeof bits);
  if (const auto* real = std::get_if<double>(&value)) std::memcpy(&bits, real, sizeof bits);
  digest.Add(bits);
}

}  // namespace

std::string CacheKey::Hex() const {
  std::string text;
  for (const uint8_t byte : bytes) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

Digest::Digest() : context_(EVP_MD_CTX_new()) {
  if (!context_ || EVP_DigestInit_ex2(Context(context_), Sha256(), nullptr) != 1) throw std::bad_alloc();
}

Digest::~Digest() { EVP_MD_CTX_free(Context(context_)); }

void Digest::Flush() {
  if (EVP_DigestUpdate(Context(context_), waiting_.data(), size_) != 1) throw std::bad_alloc();
  size_ = 0;
}

void Digest::AddRaw(const void* data, size_t size) {
  if (size > waiting_.size() - size_) Flush();
  if (size > waiting_.size()) {
    if (EVP_DigestUpdate(Context(context_), data, size) != 1) throw std::bad_alloc();
    return;
  }
  if (size > 0) std::memcpy(waiting_.data() + size_, data, size);
  size_ += size;
}

void Digest::Add(std::string_view part) {
  Add(uint64_t{part.size()});
  AddRaw(part.data(), part.size());
}

void Digest::Add(uint64_t number) { AddRaw(&number, sizeof number); }

CacheKey Digest::Finish() {
  Flush();
  CacheKey key;
  unsigned size = 0;
  if (EVP_DigestFinal_ex(Context(context_), key.bytes.data(), &size) != 1 ||
      EVP_DigestInit_ex2(Context(context_), nullptr, nullptr) != 1)
    throw std::bad_alloc();
  return key;
}

CacheKey KeyOf(std::string_view identity, bool reads_parameters, const Request& request) {
  thread_local Digest digest;
  digest.Add(identity);
  digest.Add(request.signature);
  digest.Add(uint64_t{request.inputs.size()});
  for (const size_t i : InOrder(
           request.inputs, [](const WireTensor& t) -> const auto& { return t.name; })) {
    const WireTensor& input = request.inputs[i];
    digest.Add(input.name);
    digest.Add(static_cast<uint64_t>(input.dtype));
    digest.Add(uint64_t{input.dims.size()});
    digest.AddRaw(input.dims.data(), input.dims.size() * sizeof(int64_t));
    digest.Add(uint64_t{input.bytes.size()});
    digest.AddRaw(input.bytes.data(), input.bytes.size());
  }
  digest.Add(uint64_t{request.outputs.size()});
  for (const RequestedOutput& output : request.outputs) {
    digest.Add(output.name);
    digest.Add(static_cast<uint64_t>(output.classification));
  }
  const Parameters none;
  const Parameters& parameters = reads_parameters ? request.parameters : none;
  digest.Add(uint64_t{parameters.size()});
  for (const size_t i : InOrder(
           parameters, [](const auto& p) -> const auto& { return p.first; })) {
    digest.Add(parameters[i].first);
    AddParameter(parameters[i].second, digest);
  }
  digest.Add(request.readable ? std::string_view(request.id) : std::string_view());
  digest.Add(uint64_t{request.readable});
  return digest.Finish();
}

}  // namespace tern::server
