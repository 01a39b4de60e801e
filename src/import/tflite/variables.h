// The values that a model keeps between runs become states of the graph.
#pragma once
#include "import/tflite/graph_importer.h"

namespace tern::tflite {

// Returns the subgraphs that a control flow operator runs.
std::vector<int> CalledSubgraphs(const fb::Operator& op);

// Finds all variables and tables of the model, their types, and which of them change between runs.
Status FindVariables(ModelContext& context);
// Adds an input for the past of each variable that changes between runs.
void AddVariables(GraphImporter& main);
// Adds the values of the variables after the run to the graph's outputs.
Status AddStates(GraphImporter& main);
// Assigns the first value of a variable, in an initialization that is executed once.
void Initialize(GraphImporter& main, int resource, Value* value, Builder& b);

}  // namespace tern::tflite
