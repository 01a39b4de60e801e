// Guards the parser of protobuf's text format.
#pragma once
#include <string_view>

namespace tern::import {

// Returns the nesting of braces, brackets and angle brackets outside of strings and comments. TextFormat does
// not limit the nesting of unknown fields, so callers refuse texts that are nested too deep.
int NestingOf(std::string_view text);

}  // namespace tern::import
