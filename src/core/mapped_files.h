// Knows which memory belongs to a mapped file, whichever buffer refers to it.
#pragma once
#include <cstddef>

namespace tern {

void AddMappedFile(const void* data, size_t bytes);
void RemoveMappedFile(const void* data);

// Releases the resident pages of these bytes if they belong to a mapped file. A later read loads them from
// the file again. Pages that also hold other bytes, at either end, stay.
void DropMappedPages(const void* data, size_t bytes);

}  // namespace tern
