// Declares the entry point of a fuzz target. The entry point has the name that libFuzzer expects, or a unique
// name in the replay program.
#pragma once
#include <cstddef>
#include <cstdint>

#ifdef TERN_FUZZ_ENTRY
int TERN_FUZZ_ENTRY(const uint8_t* data, size_t size);
#else
#define TERN_FUZZ_ENTRY LLVMFuzzerTestOneInput
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
#endif
