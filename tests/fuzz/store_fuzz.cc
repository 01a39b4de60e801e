// Parses what stores and web servers send. The first byte selects the parser: 'x' is a page of S3's list, 'g'
// one of Google's, 's' a file of checksums, 'c' the list of a local copy, 'i' an INI file, 'j' credentials,
// and any other byte is the head of an answer.
#include <cstdlib>
#include <string>
#include <string_view>

#include "entry.h"
#include "server/net/http_answer.h"
#include "server/store/aws_files.h"
#include "server/store/copy_list.h"
#include "server/store/google_list.h"
#include "server/store/listing.h"
#include "server/store/sums.h"

using namespace tern;

namespace {

// Whatever is listed, what is copied is a plain relative path.
void Sort(Result<server::ListPage> page) {
  if (!page.ok()) return;
  for (const auto& [name, model] : server::SortListing(std::move(page->objects)).models)
    for (const auto& [version, unit] : model.units)
      for (const server::ObjectInfo& file : unit.files)
        if (!server::CheckKey(file.path).ok() || !server::CheckKey(name).ok()) std::abort();
}

}  // namespace

int TERN_FUZZ_ENTRY(const uint8_t* bytes, size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  server::AwsCredentials credentials;
  int64_t expires = 0;
  switch (bytes[0]) {
    case 'x':
      Sort(server::ParseListPage(text, 2'000'000'000));
      break;
    case 'g':
      Sort(server::ParseGooglePage(text, 2'000'000'000));
      break;
    case 's':
      (void)server::ParseSums(text, 1000).ok();
      break;
    case 'c':
      if (const auto files = server::ParseCopyList(text); files.ok()) {
        const auto again = server::ParseCopyList(server::WriteCopyList(*files));
        if (!again.ok() || again->size() != files->size()) std::abort();
      }
      break;
    case 'i':
      (void)server::IniValue(text, "default", "key");
      break;
    case 'j':
      (void)server::ParseAwsCredentials(text, credentials, expires).ok();
      break;
    default:
      if (const auto answer = server::ParseAnswerHead(text); answer.ok())
        (void)server::FramingOf(*answer, "GET", true).ok();
  }
  return 0;
}
