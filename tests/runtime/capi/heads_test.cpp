// Heads of products, and values of a run, through the C interface.
#include <limits>
#include <random>
#include <span>

#include "tests/runtime/capi/small_matrix.hpp"

using namespace sptile::test;

namespace {

/// A plan that goes with its scope.
struct Planned {
  sptile_plan* plan = nullptr;

  Planned(sptile_matrix* matrix, const char* operation, const sptile_plan_options& options) {
    REQUIRE_MESSAGE(sptile_plan_create(matrix, operation, &options, &plan) == SPTILE_STATUS_OK,
                    sptile_last_error());
  }
  Planned(const Planned&) = delete;
  Planned& operator=(const Planned&) = delete;
  ~Planned() { sptile_plan_destroy(plan); }
};

std::vector<float> numbers(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> list(count);
  for (float& x : list) x = std::uniform_real_distribution<float>(-1, 1)(random);
  return list;
}

/// Options of a plan with heads, which point to the attribute.
struct HeadsOptions {
  HeadsOptions(std::int64_t n, double count) : heads{"heads", count}, options(options_for(n)) {
    options.attributes = &heads;
    options.attribute_count = 1;
  }
  sptile_attribute heads;
  sptile_plan_options options;
};

/// Elements between rows, and between heads.
struct Strides {
  std::int64_t ld, batch;
};

sptile_operand at(std::vector<float>& list, const Strides& strides, std::int64_t head = 0) {
  return {list.data() + head * strides.batch, strides.ld, strides.batch};
}

/// Runs three heads of an operation at once and one by one.
void check_heads(const char* operation, std::span<const Strides> strides, bool own_values) {
  const Small small;
  sptile_matrix* const matrix = small.matrix();
  const Planned all(matrix, operation, HeadsOptions(2, 3).options), one(matrix, operation, options_for(2));
  std::vector<std::vector<float>> dense;
  for (std::size_t i = 0; i < strides.size(); ++i) dense.push_back(numbers(64, static_cast<unsigned>(i)));
  std::vector<float> values = numbers(12, 7), expected = dense.back();
  sptile_operands operands = SPTILE_OPERANDS_INIT;
  operands.alpha = -2;
  operands.beta = 0.5;
  const sptile_attribute scaled = {"scaled", own_values ? 1.0 : 0.0};
  operands.attributes = &scaled;
  operands.attribute_count = 1;
  for (std::int64_t head = 0; head < 3; ++head) {
    for (std::size_t i = 0; i < strides.size(); ++i)
      operands.dense[i] = at(i + 1 < strides.size() ? dense[i] : expected, strides[i], head);
    if (own_values) operands.values.data = values.data() + 4 * head;
    REQUIRE(sptile_run(one.plan, &operands, nullptr, nullptr) == SPTILE_STATUS_OK);
  }
  for (std::size_t i = 0; i < strides.size(); ++i) operands.dense[i] = at(dense[i], strides[i]);
  if (own_values) operands.values.data = values.data();
  operands.values.batch = 4;
  REQUIRE(sptile_run(all.plan, &operands, nullptr, nullptr) == SPTILE_STATUS_OK);
  CHECK(dense.back() == expected);
  sptile_matrix_destroy(matrix);
}

}  // namespace

TEST_CASE(
    "C interface: heads behind and beside each other are runs of each, with values of their own or not") {
  const Strides consecutive = {3, 10}, interleaved = {6, 2}, list = {0, 5};
  for (const bool own_values : {false, true}) {
    for (const Strides& of : {consecutive, interleaved}) {
      check_heads("spmm", std::vector{of, of}, own_values);
      check_heads("sddmm", std::vector{of, of, list}, own_values);
    }
    check_heads("spmm", std::vector{interleaved, consecutive}, own_values);
  }
}

TEST_CASE("C interface: heads without strides follow each other without gaps") {
  const Small small;
  sptile_matrix* const matrix = small.matrix();
  const Planned all(matrix, "spmm", HeadsOptions(1, 2).options),
      samples(matrix, "sddmm", HeadsOptions(1, 2).options);
  const std::vector<float> b = {1, 2, 3, 10, 20, 30};
  std::vector<float> c(6), out(6);
  CHECK(spmm(all.plan, b.data(), c.data()) == SPTILE_STATUS_OK);
  CHECK(c == std::vector<float>{7, 0, 6, 70, 0, 60});
  CHECK(sddmm(samples.plan, b.data(), b.data(), out.data()) == SPTILE_STATUS_OK);
  CHECK(out == std::vector<float>{1, 3, 6, 100, 300, 600});
  sptile_matrix_destroy(matrix);
}

TEST_CASE("C interface: fewer columns than planned, with heads") {
  const Small small;
  sptile_matrix* const matrix = small.matrix();
  const Planned all(matrix, "spmm", HeadsOptions(5, 2).options);
  const std::vector<float> b = {1, 2, 3, 10, 20, 30};
  std::vector<float> c(6);
  sptile_operands operands = SPTILE_OPERANDS_INIT;
  operands.n = 1;
  operands.dense[0].data = const_cast<float*>(b.data());
  operands.dense[1].data = c.data();
  CHECK(sptile_run(all.plan, &operands, nullptr, nullptr) == SPTILE_STATUS_OK);
  CHECK(c == std::vector<float>{7, 0, 6, 70, 0, 60});
  sptile_matrix_destroy(matrix);
}

TEST_CASE("C interface: values of a run are those that a refresh would bring, and stay with the run") {
  const Small small;
  sptile_matrix* const matrix = small.matrix(true);
  for (const std::int32_t transpose : {0, 1}) {
    sptile_plan_options options = options_for(1);
    options.transpose = transpose;
    const Planned plan(matrix, "spmm", options);
    const std::vector<float> b = {1, 2, 3}, fresh = {10, 20, 30}, own = {1, 2, 3};
    std::vector<float> refreshed(3), given(3), after(3);
    CHECK(refresh(matrix, fresh.data(), 3, plan.plan) == SPTILE_STATUS_OK);
    CHECK(spmm(plan.plan, b.data(), refreshed.data()) == SPTILE_STATUS_OK);
    CHECK(refresh(matrix, own.data(), 3) == SPTILE_STATUS_OK);
    sptile_operands operands = SPTILE_OPERANDS_INIT;
    operands.values.data = const_cast<float*>(fresh.data());
    operands.dense[0].data = const_cast<float*>(b.data());
    operands.dense[1].data = given.data();
    CHECK(sptile_run(plan.plan, &operands, nullptr, nullptr) == SPTILE_STATUS_OK);
    CHECK(given == refreshed);
    CHECK(spmm(plan.plan, b.data(), after.data()) == SPTILE_STATUS_OK);
    CHECK(after == (transpose != 0 ? std::vector<float>{1, 9, 2} : std::vector<float>{7, 0, 6}));
  }
  sptile_matrix_destroy(matrix);
}

TEST_CASE("C interface: bad numbers of heads") {
  const Small small;
  sptile_matrix* const matrix = small.matrix();
  const auto status = [&](std::int64_t n, std::int32_t heads) {
    const HeadsOptions given(n, heads);
    const sptile_plan_options& options = given.options;
    sptile_plan* plan = nullptr;
    const sptile_status result = sptile_plan_create(matrix, "spmm", &options, &plan);
    sptile_plan_destroy(plan);
    return result;
  };
  CHECK(status(1, 65535) == SPTILE_STATUS_OK);
  for (const std::int32_t heads : {0, -1, 65536}) {
    CHECK(status(1, heads) == SPTILE_STATUS_USAGE);
    CHECK(says("use 1 to 65535"));
  }
  CHECK(status(std::int64_t{1} << 30, 65535) == SPTILE_STATUS_UNSUPPORTED);
  CHECK(says("65535 heads take more than 2^63 bytes"));
  sptile_matrix_destroy(matrix);
}

TEST_CASE("C interface: heads that overlap, lie backwards or do not fit are refused") {
  const Small small;
  sptile_matrix* const matrix = small.matrix();
  const Planned spmm(matrix, "spmm", HeadsOptions(2, 2).options),
      sddmm(matrix, "sddmm", HeadsOptions(2, 2).options);
  std::vector<float> memory(64);
  const auto status = [&](const sptile_plan* plan, int operand, Strides strides) {
    sptile_operands operands = SPTILE_OPERANDS_INIT;
    for (int i = 0; i < 3; ++i) operands.dense[i].data = memory.data() + 20 * i;
    operands.dense[operand].ld = strides.ld;
    operands.dense[operand].batch = strides.batch;
    return sptile_run(plan, &operands, nullptr, nullptr);
  };
  CHECK(status(spmm.plan, 1, {2, 6}) == SPTILE_STATUS_OK);
  CHECK(status(spmm.plan, 1, {4, 2}) == SPTILE_STATUS_OK);
  CHECK(status(spmm.plan, 0, {2, 2}) == SPTILE_STATUS_OK);  // what is only read may overlap
  for (const Strides& strides : {Strides{2, 4}, {2, 5}, {3, 2}, {4, 1}, {4, 3}}) {
    CHECK(status(spmm.plan, 1, strides) == SPTILE_STATUS_USAGE);
    CHECK(says("the heads of C"));
    CHECK(says("overlap"));
  }
  CHECK(status(sddmm.plan, 2, {0, 3}) == SPTILE_STATUS_OK);
  CHECK(status(sddmm.plan, 2, {0, 2}) == SPTILE_STATUS_USAGE);
  CHECK(says("overlap"));
  for (int operand = 0; operand < 2; ++operand)
    CHECK(status(spmm.plan, operand, {2, -6}) == SPTILE_STATUS_USAGE);
  CHECK(says("the heads of C are -6 elements apart"));
  CHECK(status(spmm.plan, 0, {2, std::numeric_limits<std::int64_t>::max() / 4}) == SPTILE_STATUS_USAGE);
  CHECK(says("2^63 bytes"));
  sptile_matrix_destroy(matrix);
}

TEST_CASE("C interface: heads of a single row overlap, too") {
  const std::vector<std::int64_t> row_ptr = {0, 1};
  const std::int32_t column = 0;
  const float value = 1;
  sptile_arrays arrays = SPTILE_ARRAYS_INIT;
  arrays.rows = arrays.cols = arrays.nnz = 1;
  arrays.row = row_ptr.data();
  arrays.col = &column;
  arrays.values = &value;
  arrays.value_dtype = SPTILE_DTYPE_F32;
  sptile_matrix* matrix = nullptr;
  REQUIRE(sptile_matrix_create(&arrays, nullptr, nullptr, &matrix) == SPTILE_STATUS_OK);
  const Planned plan(matrix, "spmm", HeadsOptions(2, 2).options);
  std::vector<float> memory(16);
  sptile_operands operands = SPTILE_OPERANDS_INIT;
  operands.dense[0].data = memory.data();
  operands.dense[1] = {memory.data() + 8, 2, 1};
  CHECK(sptile_run(plan.plan, &operands, nullptr, nullptr) == SPTILE_STATUS_USAGE);
  operands.dense[1].batch = 2;
  CHECK(sptile_run(plan.plan, &operands, nullptr, nullptr) == SPTILE_STATUS_OK);
  sptile_matrix_destroy(matrix);
}

TEST_CASE("C interface: values of a run that a pattern has not, or that lie backwards, are refused") {
  const Small small;
  sptile_arrays arrays = small.arrays();
  arrays.values = nullptr;
  arrays.value_dtype = SPTILE_DTYPE_NONE;
  sptile_matrix *pattern = nullptr, *const matrix = small.matrix();
  REQUIRE(sptile_matrix_create(&arrays, nullptr, nullptr, &pattern) == SPTILE_STATUS_OK);
  const Planned ones(pattern, "spmm", options_for(1)), plan(matrix, "spmm", HeadsOptions(1, 2).options);
  std::vector<float> memory(12);
  sptile_operands operands = SPTILE_OPERANDS_INIT;
  operands.dense[0].data = memory.data();
  operands.dense[1].data = memory.data() + 6;
  operands.values.data = const_cast<float*>(small.values.data());
  CHECK(sptile_run(ones.plan, &operands, nullptr, nullptr) == SPTILE_STATUS_USAGE);
  CHECK(says("the matrix is a pattern"));
  for (const std::int64_t batch : {std::int64_t{-3}, std::numeric_limits<std::int64_t>::max() / 2}) {
    operands.values.batch = batch;
    CHECK(sptile_run(plan.plan, &operands, nullptr, nullptr) == SPTILE_STATUS_USAGE);
    CHECK(says("the values of 2 heads"));
  }
  sptile_matrix_destroy(pattern);
  sptile_matrix_destroy(matrix);
}
