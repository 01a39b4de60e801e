// The build includes this file where it registers the converters of this importer (TERN_CONVERTERS).
#pragma once
#include "import/torch/aten/converter.h"
