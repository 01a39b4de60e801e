// Parses access files, and what requests say of their senders.
#include <cstdlib>
#include <string_view>

#include "entry.h"
#include "server/access/access_file.h"
#include "server/access/failure_limit.h"

using namespace tern;

int TERN_FUZZ_ENTRY(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto token = server::ParseBearer(text);
  if (token && (token->empty() || token->size() > server::kMaxTokenBytes)) std::abort();
  server::AddressKey(text);
  server::MatchesPattern(text.substr(0, size / 2), text.substr(size / 2));
  const auto entries = server::ParseAccessFile(text);
  if (!entries.ok()) {
    if (entries.status().code() == Code::kInternal) std::abort();
    return 0;
  }
  // What is written for the entries must be read as the same entries.
  std::string written;
  for (const server::AccessEntry& entry : *entries) written += server::EntryText(entry);
  const auto again = server::ParseAccessFile(written);
  if (!again.ok() || !(*again == *entries)) std::abort();
  return 0;
}
