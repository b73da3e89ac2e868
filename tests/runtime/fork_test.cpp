// A process made by fork has none of the threads that its parent ran products with.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

#include "sptile.h"

namespace {

constexpr std::int64_t kRows = 4000, kN = 16;
constexpr unsigned kSeconds = 30;  // after which a child hangs

/// A band matrix with enough work for several threads.
struct Band {
  std::vector<std::int64_t> row_ptr{0};
  std::vector<std::int32_t> col_idx;
  std::vector<float> values;

  Band() {
    for (std::int64_t row = 0; row < kRows; ++row) {
      for (std::int64_t column = row; column < std::min(row + 20, kRows); ++column) {
        col_idx.push_back(static_cast<std::int32_t>(column));
        values.push_back(static_cast<float>(row % 13) - 0.3f * static_cast<float>(column % 7));
      }
      row_ptr.push_back(static_cast<std::int64_t>(col_idx.size()));
    }
  }
};

sptile_plan* plan_of(const Band& a, int threads, const char* operation) {
  sptile_arrays arrays = SPTILE_ARRAYS_INIT;
  arrays.rows = arrays.cols = kRows;
  arrays.nnz = static_cast<std::int64_t>(a.values.size());
  arrays.row = a.row_ptr.data();
  arrays.col = a.col_idx.data();
  arrays.values = a.values.data();
  arrays.value_dtype = SPTILE_DTYPE_F32;
  sptile_matrix* matrix = nullptr;
  if (sptile_matrix_create(&arrays, nullptr, nullptr, &matrix) != SPTILE_STATUS_OK) return nullptr;
  sptile_plan_options options = SPTILE_PLAN_OPTIONS_INIT;
  options.n = kN;
  options.threads = threads;
  sptile_plan* plan = nullptr;
  sptile_plan_create(matrix, operation, &options, &plan);
  sptile_matrix_destroy(matrix);
  return plan;
}

std::vector<float> dense() {
  std::vector<float> b(kRows * kN);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = 0.1f * static_cast<float>(i % 31) - 1;
  return b;
}

std::vector<float> multiply(const sptile_plan* plan, const std::vector<float>& b) {
  std::vector<float> c(kRows * kN);
  sptile_operands operands = SPTILE_OPERANDS_INIT;
  operands.dense[0].data = const_cast<float*>(b.data());
  operands.dense[1].data = c.data();
  return sptile_run(plan, &operands, nullptr, nullptr) == SPTILE_STATUS_OK ? c : std::vector<float>();
}

std::vector<float> sample(const sptile_plan* plan, const std::vector<float>& x, std::size_t entries) {
  std::vector<float> out(entries);
  sptile_operands operands = SPTILE_OPERANDS_INIT;
  const sptile_attribute scaled = {"scaled", 1};
  operands.attributes = &scaled;
  operands.attribute_count = 1;
  operands.dense[0].data = operands.dense[1].data = const_cast<float*>(x.data());
  operands.dense[2].data = out.data();
  return sptile_run(plan, &operands, nullptr, nullptr) == SPTILE_STATUS_OK ? out : std::vector<float>();
}

/// Runs a check in a child; true when it ended in time and found everything right.
bool in_child(const std::function<bool()>& check) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(kSeconds);
    ::_exit(check() ? 0 : 1);
  }
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool same(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof a[0]) == 0;
}

}  // namespace

TEST_CASE("fork: a child runs the plan of its parent, and plans of its own, with the same bits") {
  const Band a;
  const std::vector<float> b = dense();
  sptile_plan* const plan = plan_of(a, 4, "spmm");
  REQUIRE(plan != nullptr);
  const std::vector<float> c = multiply(plan, b);  // now OpenMP has threads, which stay here
  REQUIRE(!c.empty());
  CHECK(in_child([&] { return same(multiply(plan, b), c); }));
  for (const int threads : {0, 4}) {
    CAPTURE(threads);
    CHECK(in_child([&] {
      sptile_plan* const own = plan_of(a, threads, "spmm");
      return own != nullptr && same(multiply(own, b), c);
    }));
  }
  CHECK(same(multiply(plan, b), c));  // the parent goes on
  sptile_plan_destroy(plan);
}

TEST_CASE("fork: SDDMM runs in a child, and in a child of it") {
  const Band a;
  const std::vector<float> x = dense();
  sptile_plan* const plan = plan_of(a, 4, "sddmm");
  REQUIRE(plan != nullptr);
  const std::vector<float> out = sample(plan, x, a.values.size());
  REQUIRE(!out.empty());
  CHECK(in_child([&] {
    return same(sample(plan, x, a.values.size()), out) &&
           in_child([&] { return same(sample(plan, x, a.values.size()), out); });
  }));
  sptile_plan_destroy(plan);
}
