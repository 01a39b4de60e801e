// A list of the address ranges of mapped files.
#pragma once
#include <cstddef>

namespace tern {

void AddMappedFile(const void* data, size_t bytes);
void RemoveMappedFile(const void* data);

// Releases the resident pages of these bytes if they belong to a mapped file. A later read loads them from
// the file again. The first and the last page stay resident if they also contain other bytes.
void DropMappedPages(const void* data, size_t bytes);

}  // namespace tern
