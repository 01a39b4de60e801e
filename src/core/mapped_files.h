// Which memory is a mapped file, whatever buffers borrow it.
#pragma once
#include <cstddef>

namespace tern {

void AddMappedFile(const void* data, size_t bytes);
void RemoveMappedFile(const void* data);

// Where these bytes are part of a mapped file, gives their memory back to the system. Reading them again
// reads the file again. Pages at both ends that hold other bytes too stay.
void DropMappedPages(const void* data, size_t bytes);

}  // namespace tern
