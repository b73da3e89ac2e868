// A child made by fork does not have the device of its parent.
#include <sys/wait.h>
#include <unistd.h>

#include "tests/gpu/device_problem.hpp"

using namespace sptile;
using namespace sptile::test;

TEST_CASE("cuda: in a forked child the plan of the parent, and new ones, are refused; the CPU works") {
  Random random(21);
  const formats::Csr a = random_matrix(300, 200, 0.1, DType::f32, random);
  const Dense dense(a, 8, DType::f32, random);
  const Formatted formatted = format_matrix(a, "csr");
  const auto plan = runtime::plan_spmm(formatted.matrix(), {.n = 8, .device = runtime::Device::cuda});
  REQUIRE(plan);
  const DeviceBytes b(dense.b.data(), static_cast<std::size_t>(dense.b.view().bytes()));
  const DeviceBytes c(static_cast<std::size_t>(dense.c.view().bytes()));
  const runtime::SpmmOperands operands{b.get(), dense.ldb, c.get(), dense.ldc};
  REQUIRE(runtime::run(**plan, operands));
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    const auto again = runtime::plan_spmm(formatted.matrix(), {.n = 8, .device = runtime::Device::cuda});
    const bool refused = runtime::run(**plan, operands).error().code == Errc::device && !again &&
                         again.error().code == Errc::device;
    ::_exit(refused && runtime::plan_spmm(formatted.matrix(), {.n = 8}) ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(runtime::run(**plan, operands));  // the parent goes on
}
