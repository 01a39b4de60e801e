// Remembers the address ranges of mapped files, so that their pages can be released.
#pragma once
#include <cstddef>

namespace tern {

void AddMappedFile(const void* data, size_t bytes);
void RemoveMappedFile(const void* data);

// If the bytes belong to a mapped file, releases their resident pages. A later read loads the pages from the
// file again. A page that also contains other bytes stays resident. Does nothing for other memory.
void DropMappedPages(const void* data, size_t bytes);

}  // namespace tern
