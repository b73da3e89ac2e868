// Batches through the C interface: products, new values, and every bad argument.
#include <cstring>

#include "tests/runtime/capi/small_matrix.hpp"

using namespace sptile::test;

namespace {

constexpr sptile_arrangement kArrangements[] = {SPTILE_ARRANGEMENT_BLOCK_DIAGONAL,
                                                SPTILE_ARRANGEMENT_STACKED};

sptile_status create(const std::vector<sptile_arrays>& parts, sptile_arrangement arrangement,
                     sptile_matrix** matrix, const sptile_matrix_options* options = nullptr,
                     void* stream = nullptr) {
  return sptile_matrix_create_batch(parts.data(), static_cast<std::int64_t>(parts.size()), arrangement,
                                    options, stream, matrix);
}

/// The status of parts that make no batch; no matrix is made of them.
sptile_status refused(const std::vector<sptile_arrays>& parts,
                      sptile_arrangement arrangement = SPTILE_ARRANGEMENT_BLOCK_DIAGONAL,
                      const sptile_matrix_options* options = nullptr, void* stream = nullptr) {
  auto* matrix = reinterpret_cast<sptile_matrix*>(64);
  const sptile_status status = create(parts, arrangement, &matrix, options, stream);
  CHECK(matrix == nullptr);
  return status;
}

std::vector<float> product(sptile_matrix* matrix, const std::vector<float>& b, std::size_t rows) {
  const sptile_plan_options options = options_for(1);
  sptile_plan* plan = nullptr;
  REQUIRE(sptile_plan_create(matrix, "spmm", &options, &plan) == SPTILE_STATUS_OK);
  CHECK(describe(plan).rows == static_cast<std::int64_t>(rows));
  CHECK(describe(plan).cols == static_cast<std::int64_t>(b.size()));
  std::vector<float> c(rows, 100);
  CHECK(spmm(plan, b.data(), c.data()) == SPTILE_STATUS_OK);
  sptile_plan_destroy(plan);
  return c;
}

}  // namespace

TEST_CASE("C interface: one run multiplies all matrices of a batch, whose arrays may go") {
  sptile_matrix *diagonal = nullptr, *stacked = nullptr;
  {
    const Small first;
    Small second = first;
    second.values = {10, 20, 30};
    const std::vector<sptile_arrays> parts = {first.arrays(), second.arrays()};
    REQUIRE(create(parts, SPTILE_ARRANGEMENT_BLOCK_DIAGONAL, &diagonal) == SPTILE_STATUS_OK);
    REQUIRE(create(parts, SPTILE_ARRANGEMENT_STACKED, &stacked) == SPTILE_STATUS_OK);
  }
  CHECK(product(diagonal, {1, 2, 3, 4, 5, 6}, 6) == std::vector<float>{7, 0, 6, 160, 0, 150});
  CHECK(product(stacked, {1, 2, 3}, 6) == std::vector<float>{7, 0, 6, 70, 0, 60});
  sptile_matrix_info info = {};
  info.size = sizeof info;
  REQUIRE(sptile_matrix_describe(diagonal, &info) == SPTILE_STATUS_OK);
  CHECK(info.nnz == 6);
  CHECK(info.value_dtype == SPTILE_DTYPE_F32);
  sptile_matrix_destroy(diagonal);
  sptile_matrix_destroy(stacked);
}

TEST_CASE("C interface: new values of a batch are those of its matrices, one behind the other") {
  const Small small;
  sptile_matrix_options options = SPTILE_MATRIX_OPTIONS_INIT;
  options.refreshable = 1;
  sptile_matrix* matrix = nullptr;
  REQUIRE(create({small.arrays(), small.arrays()}, SPTILE_ARRANGEMENT_BLOCK_DIAGONAL, &matrix, &options) ==
          SPTILE_STATUS_OK);
  const std::vector<float> fresh = {1, 10, 100, 2, 20, 200};
  CHECK(refresh(matrix, fresh.data(), 6) == SPTILE_STATUS_OK);
  CHECK(product(matrix, {1, 1, 1, 1, 1, 1}, 6) == std::vector<float>{11, 0, 100, 22, 0, 200});
  CHECK(refresh(matrix, fresh.data(), 3) == SPTILE_STATUS_USAGE);
  sptile_matrix_destroy(matrix);
}

TEST_CASE("C interface: a batch of patterns, of empty matrices, and of one") {
  const Small small;
  sptile_arrays pattern = small.arrays(), empty = small.arrays();
  pattern.values = nullptr;
  pattern.value_dtype = SPTILE_DTYPE_NONE;
  const std::int64_t nothing[] = {0};
  empty.rows = empty.nnz = 0;
  empty.cols = 2;
  empty.row = nothing;
  empty.col = empty.values = nullptr;
  sptile_matrix* matrix = nullptr;
  REQUIRE(create({pattern, pattern}, SPTILE_ARRANGEMENT_STACKED, &matrix) == SPTILE_STATUS_OK);
  CHECK(product(matrix, {1, 2, 3}, 6) == std::vector<float>{4, 0, 2, 4, 0, 2});
  sptile_matrix_destroy(matrix);
  REQUIRE(create({empty, small.arrays(), empty}, SPTILE_ARRANGEMENT_BLOCK_DIAGONAL, &matrix) ==
          SPTILE_STATUS_OK);
  CHECK(product(matrix, {9, 9, 1, 2, 3, 9, 9}, 3) == std::vector<float>{7, 0, 6});
  sptile_matrix_destroy(matrix);
  for (const sptile_arrangement arrangement : kArrangements) {
    REQUIRE(create({small.arrays()}, arrangement, &matrix) == SPTILE_STATUS_OK);
    CHECK(product(matrix, {1, 2, 3}, 3) == std::vector<float>{7, 0, 6});
    sptile_matrix_destroy(matrix);
  }
}

TEST_CASE("C interface: structs of a newer library stand further apart") {
  const Small small;
  struct Newer {
    sptile_arrays known;
    std::int64_t unknown;
  };
  Newer parts[] = {{small.arrays(), 0}, {small.arrays(), 0}};
  for (Newer& part : parts) part.known.size = sizeof part;
  sptile_matrix* matrix = nullptr;
  REQUIRE(sptile_matrix_create_batch(&parts[0].known, 2, SPTILE_ARRANGEMENT_BLOCK_DIAGONAL, nullptr, nullptr,
                                     &matrix) == SPTILE_STATUS_OK);
  CHECK(product(matrix, {1, 2, 3, 1, 2, 3}, 6) == std::vector<float>{7, 0, 6, 7, 0, 6});
  sptile_matrix_destroy(matrix);
  parts[1].unknown = 1;
  CHECK(sptile_matrix_create_batch(&parts[0].known, 2, SPTILE_ARRANGEMENT_BLOCK_DIAGONAL, nullptr, nullptr,
                                   &matrix) == SPTILE_STATUS_USAGE);
  CHECK(says("matrix 1 of the batch: arrays sets a field"));
}

TEST_CASE("C interface: arguments of a batch are checked") {
  const Small small;
  const sptile_arrays good = small.arrays();
  sptile_matrix* matrix = nullptr;
  CHECK(sptile_matrix_create_batch(&good, 1, SPTILE_ARRANGEMENT_STACKED, nullptr, nullptr, nullptr) ==
        SPTILE_STATUS_USAGE);
  CHECK(says("sptile_matrix_create_batch: matrix is NULL"));
  CHECK(sptile_matrix_create_batch(nullptr, 1, SPTILE_ARRANGEMENT_STACKED, nullptr, nullptr, &matrix) ==
        SPTILE_STATUS_USAGE);
  CHECK(says("parts is NULL"));
  for (const std::int64_t none : {std::int64_t{0}, std::int64_t{-1}, INT64_MIN}) {
    CHECK(sptile_matrix_create_batch(&good, none, SPTILE_ARRANGEMENT_STACKED, nullptr, nullptr, &matrix) ==
          SPTILE_STATUS_USAGE);
    CHECK(says("empty batch"));
  }
  for (const std::int32_t code : {-1, 2, INT32_MAX}) {
    CHECK(sptile_matrix_create_batch(&good, 1, code, nullptr, nullptr, &matrix) == SPTILE_STATUS_USAGE);
    CHECK(says("arrangement = "));
  }
  sptile_matrix_options options = SPTILE_MATRIX_OPTIONS_INIT;
  options.reserved = 1;
  CHECK(refused({good}, SPTILE_ARRANGEMENT_STACKED, &options) == SPTILE_STATUS_USAGE);
  CHECK(says("options.reserved"));
  int no_stream = 0;
  CHECK(refused({good}, SPTILE_ARRANGEMENT_STACKED, nullptr, &no_stream) == SPTILE_STATUS_USAGE);
  CHECK(says("not accept a stream"));
}

TEST_CASE("C interface: a bad matrix of a batch is named") {
  const Small small;
  const sptile_arrays good = small.arrays();
  const auto refuse = [&](auto change, sptile_arrangement arrangement = SPTILE_ARRANGEMENT_BLOCK_DIAGONAL) {
    std::vector<sptile_arrays> parts(4, good);
    change(parts[2]);
    const sptile_status status = refused(parts, arrangement);
    CHECK_MESSAGE(says("matrix 2 of the batch: "), sptile_last_error());
    return status;
  };
  for (const sptile_arrangement arrangement : kArrangements) {
    const auto refuse_both = [&](auto change) { return refuse(change, arrangement); };
    CHECK(refuse_both([](sptile_arrays& a) { a.size = 0; }) == SPTILE_STATUS_USAGE);
    CHECK(refuse_both([](sptile_arrays& a) { a.size = SIZE_MAX; }) == SPTILE_STATUS_USAGE);
    CHECK(refuse_both([](sptile_arrays& a) { a.rows = -1; }) == SPTILE_STATUS_USAGE);
    CHECK(refuse_both([](sptile_arrays& a) { a.nnz = INT64_MIN; }) == SPTILE_STATUS_USAGE);
    CHECK(refuse_both([](sptile_arrays& a) { a.rows = INT64_MAX; }) == SPTILE_STATUS_UNSUPPORTED);
    CHECK(refuse_both([](sptile_arrays& a) { a.nnz = INT64_MAX; }) == SPTILE_STATUS_BAD_INPUT);
    CHECK(refuse_both([](sptile_arrays& a) { a.row = nullptr; }) == SPTILE_STATUS_USAGE);
    CHECK(refuse_both([](sptile_arrays& a) { a.col = nullptr; }) == SPTILE_STATUS_USAGE);
    CHECK(refuse_both([](sptile_arrays& a) { a.values = nullptr; }) == SPTILE_STATUS_USAGE);
    CHECK(refuse_both([](sptile_arrays& a) { a.value_dtype = SPTILE_DTYPE_I32; }) == SPTILE_STATUS_USAGE);
    CHECK(refuse_both([](sptile_arrays& a) { a.value_dtype = SPTILE_DTYPE_F64; }) == SPTILE_STATUS_USAGE);
    CHECK(refuse_both([](sptile_arrays& a) { a.values = nullptr, a.value_dtype = SPTILE_DTYPE_NONE; }) ==
          SPTILE_STATUS_USAGE);
    CHECK(refuse_both([](sptile_arrays& a) { a.device = 7; }) == SPTILE_STATUS_USAGE);
    CHECK(refuse_both([](sptile_arrays& a) { a.device = SPTILE_DEVICE_CUDA; }) == SPTILE_STATUS_USAGE);
    CHECK(refuse_both([](sptile_arrays& a) { a.disorder = SPTILE_DISORDER_SUM; }) == SPTILE_STATUS_USAGE);
    CHECK(refuse_both([](sptile_arrays& a) { a.layout = SPTILE_LAYOUT_COO; }) == SPTILE_STATUS_UNSUPPORTED);
    CHECK(refuse_both([](sptile_arrays& a) { a.row_dtype = SPTILE_DTYPE_I32; }) == SPTILE_STATUS_UNSUPPORTED);
    CHECK(refuse_both([](sptile_arrays& a) { a.reserved = 1; }) == SPTILE_STATUS_USAGE);
    CHECK(refuse_both([](sptile_arrays& a) { a.nnz = 2; }) == SPTILE_STATUS_BAD_INPUT);
    Small broken = small;
    broken.col_idx[1] = 3;
    CHECK(refuse_both([&](sptile_arrays& a) { a.col = broken.col_idx.data(); }) == SPTILE_STATUS_BAD_INPUT);
    broken.row_ptr[1] = 4;
    CHECK(refuse_both([&](sptile_arrays& a) { a.row = broken.row_ptr.data(); }) == SPTILE_STATUS_BAD_INPUT);
  }
  CHECK(refuse([](sptile_arrays& a) { a.cols = 4; }, SPTILE_ARRANGEMENT_STACKED) == SPTILE_STATUS_USAGE);
}

TEST_CASE("C interface: sizes of a batch are added up before its arrays are read") {
  const Small small;
  const auto of = [&](std::int64_t rows, std::int64_t cols) {
    sptile_arrays a = small.arrays();
    a.rows = rows, a.cols = cols;
    return a;
  };
  // Row pointers as long as these rows are not there.
  CHECK(refused({of(INT32_MAX, 1), of(1, 1)}) == SPTILE_STATUS_UNSUPPORTED);
  CHECK(says("matrix 1 of the batch: 1 rows after 2147483647"));
  CHECK(refused({of(INT32_MAX, 1), of(1, 1)}, SPTILE_ARRANGEMENT_STACKED) == SPTILE_STATUS_UNSUPPORTED);
  CHECK(refused({of(3, INT32_MAX), of(3, 3), of(3, INT32_MAX)}) == SPTILE_STATUS_UNSUPPORTED);
  CHECK(says("matrix 1 of the batch: 3 columns after 2147483647"));
  sptile_matrix* matrix = nullptr;
  REQUIRE(create({of(3, INT32_MAX), of(3, INT32_MAX)}, SPTILE_ARRANGEMENT_STACKED, &matrix) ==
          SPTILE_STATUS_OK);
  sptile_matrix_destroy(matrix);
  sptile_arrays many = small.arrays();
  many.nnz = std::int64_t{1} << 60;
  CHECK(refused({many, many}) == SPTILE_STATUS_UNSUPPORTED);
  CHECK(says("matrix 1 of the batch: "));
}

TEST_CASE("C interface: trusted matrices of a batch are not looked at") {
  Small small;
  sptile_matrix_options options = SPTILE_MATRIX_OPTIONS_INIT;
  options.trusted = 1;
  std::swap(small.col_idx[0], small.col_idx[1]);  // out of order, which products do not mind
  CHECK(refused({small.arrays()}) == SPTILE_STATUS_BAD_INPUT);
  sptile_matrix* matrix = nullptr;
  REQUIRE(create({small.arrays(), small.arrays()}, SPTILE_ARRANGEMENT_STACKED, &matrix, &options) ==
          SPTILE_STATUS_OK);
  CHECK(product(matrix, {1, 2, 3}, 6) == std::vector<float>{5, 0, 6, 5, 0, 6});
  sptile_matrix_destroy(matrix);
}
