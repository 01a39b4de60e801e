// The deleter of a std::unique_ptr that calls a C library's function.
#pragma once

namespace tern::server {

template <class T, void (*Free)(T*)> struct Freed {
  void operator()(T* object) const { Free(object); }
};

}  // namespace tern::server
