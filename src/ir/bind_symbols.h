// What data says about the symbols of declared types.
#pragma once
#include "core/type.h"

namespace tern {

// Gives a value to each dim of `declared` that is a symbol by itself. One that has a value keeps it.
void BindSymbols(const Type& declared, const Dims& dims, SymbolValues& symbols);

// The type with what is known put in.
Type WithSymbols(Type type, const SymbolValues& symbols);

}  // namespace tern
