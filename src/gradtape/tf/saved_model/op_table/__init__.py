"""Tables of the ops that a model file may name, by family; `registry` looks them up."""
