// For builds with ThreadSanitizer. Under __SANITIZE_THREAD__, protobuf's header adds members to MapFieldBase,
// which the protobuf library of the system, compiled without the macro, does not know. The standard headers
// come first, because they need the macro.
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#pragma push_macro("__SANITIZE_THREAD__")
#undef __SANITIZE_THREAD__
#include_next <google/protobuf/map_field.h>
#pragma pop_macro("__SANITIZE_THREAD__")
