// For builds with ThreadSanitizer. If __SANITIZE_THREAD__ is defined, protobuf's header adds members to
// MapFieldBase. The protobuf library of the system was compiled without the macro, so that its classes do not
// have these members. This header hides the macro from protobuf's header. The standard headers need the
// macro, so that they are included first.
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
