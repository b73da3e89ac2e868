// The number of threads.
#pragma once

#include <string_view>

#include "formats/core/error.hpp"
#include "formats/core/fork.hpp"

namespace sptile::runtime {

/// A number of threads, and the setting or limit that it comes from.
struct ThreadCount {
  int threads = 1;
  std::string_view source;
};

/// Returns the number of threads of a run whose options leave it open. This is, where it is given, that of
/// set_default_threads or else the environment variable SPTILE_THREADS; otherwise the minimum of what
/// OpenMP gives (OMP_NUM_THREADS, omp_set_num_threads), the processors of the affinity mask, and the CPU
/// quota of control groups.
ThreadCount default_threads() noexcept;

/// Sets the default of this process; 0 takes it back.
void set_default_threads(int threads) noexcept;

/// Errc::usage when a value of SPTILE_THREADS is neither empty nor an integer from 0 to 4096.
Status check_threads_variable(std::string_view value);

/// The same for the environment; the message names the variable.
Status check_threads_variable();

/// Returns the number of threads of OpenMP loops: the default, but 1 after a fork, where GNU's OpenMP would
/// wait for ever for threads that only the parent has.
int most_threads() noexcept;

}  // namespace sptile::runtime
