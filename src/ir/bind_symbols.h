// Binds the symbols of declared types to the dims of actual data.
#pragma once
#include "core/type.h"

namespace tern {

// Assigns the size of each dim of `declared` that is a bare symbol. A symbol that has a value keeps it.
void BindSymbols(const Type& declared, const Dims& dims, SymbolValues& symbols);

// The type with the symbols replaced by their values.
Type WithSymbols(Type type, const SymbolValues& symbols);

}  // namespace tern
