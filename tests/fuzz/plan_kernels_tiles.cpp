// Kernels that the fuzzer of plans emulates.
#include "tests/runtime/cuda/emulated_block.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wconversion"
#include "runtime/cuda/families/csr/csr.cu"
#include "runtime/cuda/families/tile/tile8.cu"
#include "runtime/cuda/papers/acc/acc.cu"
#include "runtime/cuda/papers/rsh/rsh.cu"
#pragma GCC diagnostic pop
