// Recognises formats by their contents, for formats that magic bytes alone do not identify. IsSavedModel
// reads at most the first 64 MiB of a file. The other functions read at most the first 16 KiB, and those for
// zip archives also the last MiB.
#pragma once
#include <string_view>

namespace tern::load {

// These formats are zip archives. They are recognised by the names of the files in them.
bool IsTorchScript(std::string_view bytes);
bool IsTorchCheckpoint(std::string_view bytes);
bool IsTorchExport(std::string_view bytes);
bool IsKeras(std::string_view bytes);
bool IsNumpyArchive(std::string_view bytes);

// Returns whether the bytes are the start of a zip archive, whose directory at the end is missing.
bool IsCutZip(std::string_view bytes);

// These formats are protobuf messages. They are recognised by their first fields.
bool IsSavedModel(std::string_view bytes);
bool IsMindSpore(std::string_view bytes);
bool IsGraphDef(std::string_view bytes);

bool IsSafetensors(std::string_view bytes);
bool IsPlainText(std::string_view bytes);

}  // namespace tern::load
