// Recognises formats that have no magic bytes. Each function reads at most the first and the last MiB of a
// file; IsSavedModel reads the first 64 MiB.
#pragma once
#include <string_view>

namespace tern::load {

// Zip archives, recognised by the names of their files.
bool IsTorchScript(std::string_view bytes);
bool IsTorchCheckpoint(std::string_view bytes);
bool IsTorchExport(std::string_view bytes);
bool IsKeras(std::string_view bytes);
bool IsNumpyArchive(std::string_view bytes);

// Protobuf messages, recognised by their first fields.
bool IsSavedModel(std::string_view bytes);
bool IsCaffe(std::string_view bytes);
bool IsMindSpore(std::string_view bytes);
bool IsGraphDef(std::string_view bytes);

bool IsSafetensors(std::string_view bytes);
bool IsCaffeText(std::string_view bytes);
bool IsPlainText(std::string_view bytes);

}  // namespace tern::load
