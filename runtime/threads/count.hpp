// Default number of threads.
#pragma once

#include <string_view>

#include "formats/core/error.hpp"
#include "formats/core/fork.hpp"

namespace sptile::runtime {

/// Number of threads, and the setting or limit that determines it.
struct ThreadCount {
  int threads = 1;
  std::string_view source;
};

/// Returns the number of threads of a run whose options do not set it: the value of set_default_threads if
/// set, else of the environment variable SPTILE_THREADS if set, otherwise the minimum of OpenMP's threads
/// (OMP_NUM_THREADS, omp_set_num_threads), the processors of the affinity mask, and the CPU quota of control
/// groups.
ThreadCount default_threads() noexcept;

/// Sets the default of this process; 0 unsets it.
void set_default_threads(int threads) noexcept;

/// Errc::usage if a value of SPTILE_THREADS is neither empty nor an integer from 0 to 4096.
Status check_threads_variable(std::string_view value);

/// Checks the variable in the environment; the message names it.
Status check_threads_variable();

/// Returns the number of threads of OpenMP loops: the default, but 1 in a forked child, where GNU's OpenMP
/// would wait forever for the parent's threads.
int max_threads() noexcept;

}  // namespace sptile::runtime
