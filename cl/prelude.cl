// prelude
