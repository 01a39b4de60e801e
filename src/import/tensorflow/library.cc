// The entry point of libtern_tensorflow.so, the TensorFlow importer.
#include "import/tensorflow/importer.h"
#include "load/importer.h"

TERN_IMPORTER(tern::tensorflow::Read, tern::tensorflow::Operators)
