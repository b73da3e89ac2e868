#include "runtime/threads/count.hpp"

#include <doctest/doctest.h>
#include <omp.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "runtime/threads/processors.hpp"
#include "tests/child_process.hpp"

namespace sptile::runtime {
namespace {

/// SPTILE_THREADS while a test runs.
class Variable {
 public:
  explicit Variable(const char* value) { ::setenv("SPTILE_THREADS", value, 1); }
  ~Variable() { ::unsetenv("SPTILE_THREADS"); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
};

}  // namespace

TEST_CASE("default threads: no more than processors, and than OpenMP gives") {
  ::unsetenv("SPTILE_THREADS");
  const int max = omp_get_max_threads();
  CHECK(default_threads().threads == std::min({max, omp_get_num_procs(), processors()}));
  omp_set_num_threads(1);
  CHECK(default_threads().threads == 1);
  omp_set_num_threads(1000);
  CHECK(default_threads().threads == std::min(omp_get_num_procs(), processors()));
  omp_set_num_threads(max);
}

TEST_CASE("default threads: the variable overrules OpenMP and processors, the program the variable") {
  const Variable variable("37");
  CHECK(default_threads().threads == 37);
  CHECK(default_threads().source == "SPTILE_THREADS");
  set_default_threads(5);
  CHECK(default_threads().threads == 5);
  set_default_threads(0);
  CHECK(default_threads().threads == 37);
  CHECK(max_threads() == 37);
}

TEST_CASE("default threads: 0 and nothing in the variable leave the number open") {
  for (const char* value : {"0", ""}) {
    const Variable variable(value);
    CHECK(default_threads().source != "SPTILE_THREADS");
    CHECK(check_threads_variable());
  }
}

TEST_CASE("default threads: a variable that is not a number of threads is refused by name") {
  for (const std::string value : {"many", "-1", "4097", "2 ", " 2", "2.5", "1e3", "99999999999999999999"}) {
    CAPTURE(value);
    const Variable variable(value.c_str());
    const Status s = check_threads_variable();
    REQUIRE_FALSE(s);
    CHECK(s.error().code == Errc::usage);
    CHECK(s.error().message ==
          "the environment variable SPTILE_THREADS: '" + value + "' is not an integer from 0 to 4096");
    CHECK(default_threads().source != "SPTILE_THREADS");
  }
}

TEST_CASE("default threads: one for a process that may use one processor") {
  ::unsetenv("SPTILE_THREADS");
  CHECK(in_child([] {
          const int processor = ::sched_getcpu();
          cpu_set_t mask;
          CPU_ZERO(&mask);
          CPU_SET(static_cast<std::size_t>(processor), &mask);
          if (::sched_setaffinity(0, sizeof mask, &mask) != 0) ::_exit(1);
          if (default_threads().threads != 1) ::_exit(2);
        }) == 0);
}

TEST_CASE("default threads: a child of fork has as many, but one in loops of OpenMP") {
  const Variable variable("3");
  CHECK(in_child([] {
          if (default_threads().threads != 3) ::_exit(1);
          if (max_threads() != 1) ::_exit(2);
        }) == 0);
}

}  // namespace sptile::runtime
