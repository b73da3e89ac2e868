// Products with a matrix that `sptile partition` divided among processes. Header only, over sptile.hpp.
//
//   #define SPTILE_DIST_MPI
//   #include <sptile_dist.hpp>
//
//   sptile::dist::MpiExchange exchange(MPI_COMM_WORLD);
//   sptile::dist::Product<float, sptile::dist::MpiExchange> product("parts", exchange, {.n = 128});
//   product.run(b, c);  // std::vector<float> b(product.owned() * 128), c of the same size
//
// What is defined before it is included says what is there:
//
//   SPTILE_DIST_MPI   MpiExchange; needs MPI's compiler
//   SPTILE_DIST_CUDA  operands in device memory (CudaMemory), and StagedExchange; needs the runtime of CUDA
//   SPTILE_DIST_NCCL  NcclExchange, and what SPTILE_DIST_CUDA gives; needs NCCL
#pragma once

#include "sptile_dist/product.hpp"

#ifdef SPTILE_DIST_MPI
#include "sptile_dist/mpi.hpp"
#endif
#if defined(SPTILE_DIST_CUDA) || defined(SPTILE_DIST_NCCL)
#include "sptile_dist/cuda.hpp"
#include "sptile_dist/staged.hpp"
#endif
#ifdef SPTILE_DIST_NCCL
#include "sptile_dist/nccl.hpp"
#endif
