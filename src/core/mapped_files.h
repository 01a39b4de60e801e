// A list of the memory that belongs to mapped files.
#pragma once
#include <cstddef>

namespace tern {

void AddMappedFile(const void* data, size_t bytes);
void RemoveMappedFile(const void* data);

// Releases the resident pages of these bytes if they belong to a mapped file. A later read loads them from
// the file again. A page at either end stays if it also holds other bytes.
void DropMappedPages(const void* data, size_t bytes);

}  // namespace tern
