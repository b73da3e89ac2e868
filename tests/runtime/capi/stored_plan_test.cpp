// CPU plans of a bundle through the C and C++ interfaces. The plans are written byte by byte, as the
// documentation of bundles has them.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "sptile.h"
#include "sptile.hpp"
#include "tests/bundle_sample.hpp"
#include "tests/runtime/capi/small_matrix.hpp"
#include "tests/temporary_folder.hpp"

using namespace sptile::test;

namespace {

constexpr std::int64_t kN = 4;

std::string key(const std::string& format, const std::string& isa) {
  return "sptile-plan 1\nop spmm\nside matrix\nformat " + format + "\nkernel cpu." + format + "." + isa +
         "\nversion 1\nn 4\nvalues f32\ndense f32\nresult f32\nprecision fp32\ndevice cpu\nthreads "
         "1\n";
}

/// A bundle with csr and bittcf, and a plan.
struct Stored {
  sptile::TemporaryFolder folder;
  std::string path = folder / "a.h5", format;

  /// `runs` has the last unit of each run and its ranges of columns.
  Stored(std::string name, std::vector<std::int64_t> runs, const std::string& isa = "generic")
      : format(std::move(name)) {
    REQUIRE(sptile::BundleSample().write(path).has_value());
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    auto writer = sptile::formats::BundleWriter::extend(fd, path);
    REQUIRE(writer.has_value());
    const std::int64_t count = std::ssize(runs) / 2;
    REQUIRE(
        writer->add_plan(key(format, isa), std::span(&count, 1), std::as_bytes(std::span(runs))).has_value());
    REQUIRE(writer->commit().has_value());
    ::close(fd);
  }
};

/// A plan of a bundle, or the status and message of its refusal.
struct Planned {
  sptile_matrix* matrix = nullptr;
  sptile_plan* plan = nullptr;
  sptile_status status;

  Planned(const Stored& stored, int threads, const char* kernel = nullptr, bool replan = false) {
    REQUIRE(sptile_matrix_open(stored.path.c_str(), nullptr, &matrix) == SPTILE_STATUS_OK);
    sptile_plan_options options = options_for(kN);
    options.threads = threads;
    options.kernel = kernel;
    options.format = kernel == nullptr ? nullptr : stored.format.c_str();
    const sptile_attribute attribute = {"replan", replan ? 1.0 : 0.0};
    options.attributes = &attribute;
    options.attribute_count = 1;
    status = sptile_plan_create(matrix, "spmm", &options, &plan);
  }
  Planned(const Planned&) = delete;
  Planned& operator=(const Planned&) = delete;
  ~Planned() {
    sptile_plan_destroy(plan);
    sptile_matrix_destroy(matrix);
  }

  [[nodiscard]] std::vector<float> product() const {
    std::vector<float> b(5 * kN), c(3 * kN, -1);
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = 0.1f * static_cast<float>(i) + 0.3f;
    REQUIRE(spmm(plan, b.data(), c.data()) == SPTILE_STATUS_OK);
    return c;
  }
};

}  // namespace

TEST_CASE("C interface: a stored CPU plan decides format and division, and gives the same bits") {
  const Stored stored("bittcf", {1, 1});
  const Planned taken(stored, 1), made(stored, 1, "cpu.bittcf.generic", true);
  REQUIRE(taken.plan != nullptr);
  REQUIRE(made.plan != nullptr);
  CHECK(describe(taken.plan).stored == 1);
  CHECK(describe(taken.plan).format == std::string("bittcf"));
  CHECK(describe(taken.plan).kernel == std::string("cpu.bittcf.generic"));
  CHECK(describe(made.plan).stored == 0);
  CHECK(taken.product() == made.product());
}

TEST_CASE("C interface: a plan for a kernel that libraries had before is planned anew") {
  const Stored stored("bittcf", {1, 1}, "avx512");
  const Planned any(stored, 1), other(stored, 1, "cpu.bittcf.generic"), named(stored, 1, "cpu.bittcf.avx512");
  REQUIRE(any.plan != nullptr);
  REQUIRE(other.plan != nullptr);
  CHECK(describe(any.plan).stored == 0);
  CHECK(describe(other.plan).stored == 0);
  CHECK(named.status == SPTILE_STATUS_USAGE);
  CHECK(says("available: cpu.bittcf.generic"));
}

TEST_CASE("C interface: a plan for another number of threads is planned anew") {
  const Stored stored("csr", {2, 1, 3, 1});
  const Planned taken(stored, 1), other(stored, 2, "cpu.csr.generic");
  REQUIRE(other.plan != nullptr);
  CHECK(describe(taken.plan).stored == 1);
  CHECK(describe(other.plan).stored == 0);
  CHECK(taken.product() == other.product());
}

TEST_CASE("C interface: a stored division of another matrix is refused") {
  for (const std::vector<std::int64_t>& runs :
       {std::vector<std::int64_t>{2, 1}, {4, 1}, {3, 2}, {3, 0}, {3, 1, 3, 1}}) {
    const Stored stored("csr", runs);
    const Planned refused(stored, 1);
    CHECK(refused.plan == nullptr);
    CHECK(refused.status == SPTILE_STATUS_BAD_INPUT);
    CHECK(says("/plans/0000"));
  }
}

TEST_CASE("C++ interface: a stored CPU plan is taken") {
  const Stored stored("csr", {3, 1});
  sptile::Matrix matrix(stored.path);
  sptile::PlanOptions options;
  options.n = kN;
  options.threads = 1;
  CHECK(matrix.plan("spmm", options).stored());
  options.attributes = {{"replan", 1}};
  CHECK_FALSE(matrix.plan("spmm", options).stored());
}
