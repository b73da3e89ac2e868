// Reads a matrix of any kind from the HDF5 file of a fuzzer.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "formats/io/files/available_memory.hpp"
#include "formats/io/hdf5/hdf5_matrix.hpp"
#include "formats/layout/csr.hpp"
#include "tests/fuzz/hdf5_thread.hpp"

namespace sptile {

/// Checks that reading does not crash, and that an accepted matrix is valid CSR.
inline void read_fuzzed(formats::Hdf5Helper helper, std::int64_t file_bytes, const char* fuzzer) {
  static const formats::MemoryLimit limit(64 << 20);  // a valid header may declare 2^31 rows
  const auto matrix = formats::read_hdf5_matrix(
      formats::Hdf5Reader::open(std::move(helper), "fuzz.h5", file_bytes), "fuzz.h5", true);
  if (!matrix || formats::check_csr(matrix->csr.view())) return;
  std::fprintf(stderr, "%s: the matrix breaks an invariant\n", fuzzer);
  std::abort();
}

inline void read_fuzzed(int fd, const char* fuzzer) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) std::abort();
  with_hdf5_thread(
      fd, [&](formats::Hdf5Helper helper) { read_fuzzed(std::move(helper), status.st_size, fuzzer); });
}

}  // namespace sptile
