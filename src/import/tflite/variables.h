// Makes the values that a model keeps between runs states of the graph.
#pragma once
#include "import/tflite/graph_importer.h"

namespace tern::tflite {

// Returns the subgraphs that a control flow operator runs.
std::vector<int> CalledSubgraphs(const fb::Operator& op);

// Finds all variables of the model, their types, which of them a run may change, and the subgraphs that
// assign variables.
Status FindVariables(ModelContext& context);
// Adds a graph input for each variable that a run may change. The input has the variable's value before the
// run.
void AddVariables(GraphImporter& main);
// Adds the values of the variables after the run to the graph's outputs.
Status AddStates(GraphImporter& main);
// Assigns the first value of a variable, in an initialization that is executed once. Fails if the variable
// must be a state, but its dims are not known.
Status Initialize(GraphImporter& main, int resource, Value* value, Builder& b);
// Makes `past` a state of the graph and adds its value after a run, `present`, to `outputs`. Fails if the
// types differ. The error calls the state `name`.
Status AddState(Graph& graph, const std::string& name, Value* past, Value* present,
                std::vector<Value*>& outputs);

}  // namespace tern::tflite
