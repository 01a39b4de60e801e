// Binds the symbols of declared types to the dims of actual data.
#pragma once
#include "core/type.h"

namespace tern {

// Sets the value of each symbol that is a dim of `declared`. For example, f32[N,2*M] with dims {3,8} sets N
// to 3. It does not set M, because 2*M is an expression. A symbol that already has a value keeps that value.
void BindSymbols(const Type& declared, const Dims& dims, SymbolValues& symbols);

// Returns the type with the symbols replaced by their values.
Type WithSymbols(Type type, const SymbolValues& symbols);

}  // namespace tern
