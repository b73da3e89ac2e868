// Kernels that the fuzzer of plans emulates.
#include "tests/runtime/cuda/emulated_block.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wconversion"
#include "runtime/cuda/families/sddmm/tile8.cu"
#pragma GCC diagnostic pop
