// Functions of libsptile-tools on entries in host memory: results, and hostile arguments.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "sptile_tools.h"

namespace {

bool says(const char* part) { return std::string(sptile_tools_last_error()).find(part) != std::string::npos; }

// Three entries of a 2 x 3 matrix, out of order.
struct Given {
  std::vector<std::int64_t> row{1, 0, 1}, col{2, 1, 0};

  [[nodiscard]] sptile_arrays arrays() const {
    sptile_arrays a = SPTILE_ARRAYS_INIT;
    a.rows = 2, a.cols = 3, a.nnz = 3;
    a.row = row.data(), a.col = col.data();
    a.layout = SPTILE_LAYOUT_COO;
    a.row_dtype = a.col_dtype = SPTILE_DTYPE_I64;
    return a;
  }
};

struct Memory {
  std::vector<std::int64_t> row_ptr = std::vector<std::int64_t>(4, -1);
  std::vector<std::int32_t> col_idx = std::vector<std::int32_t>(3, -1), position = col_idx, source = col_idx;

  [[nodiscard]] sptile_tools_sorted sorted() {
    sptile_tools_sorted s = SPTILE_TOOLS_SORTED_INIT;
    s.row_ptr = row_ptr.data(), s.col_idx = col_idx.data();
    s.position = position.data(), s.source = source.data();
    return s;
  }
};

// A graph of two nodes with edges in both directions.
struct Pair {
  std::vector<std::int64_t> row_ptr{0, 1, 2}, seeds{0}, fan_outs{1, -1};
  std::vector<std::int32_t> col_idx{1, 0};

  [[nodiscard]] sptile_arrays arrays() const {
    sptile_arrays a = SPTILE_ARRAYS_INIT;
    a.rows = a.cols = a.nnz = 2;
    a.row = row_ptr.data(), a.col = col_idx.data();
    return a;
  }
  [[nodiscard]] sptile_tools_sampling sampling() const {
    sptile_tools_sampling s = SPTILE_TOOLS_SAMPLING_INIT;
    s.seeds = seeds.data(), s.seed_count = 1;
    s.fan_outs = fan_outs.data(), s.hops = 2;
    return s;
  }
};

}  // namespace

TEST_CASE("entries are sorted, transposed and multiplied in the caller's memory") {
  const Given given;
  const sptile_arrays entries = given.arrays();
  Memory memory;
  sptile_tools_sorted sorted = memory.sorted();
  REQUIRE(sptile_tools_sort_entries(&entries, &sorted) == SPTILE_STATUS_OK);
  CHECK(sorted.nnz == 3);
  CHECK(sorted.ordered == 0);
  CHECK(std::vector(memory.row_ptr.begin(), memory.row_ptr.begin() + 3) ==
        std::vector<std::int64_t>{0, 1, 3});
  CHECK(memory.col_idx == std::vector<std::int32_t>{1, 0, 2});
  CHECK(memory.source == std::vector<std::int32_t>{1, 2, 0});
  CHECK(memory.position == std::vector<std::int32_t>{2, 0, 1});

  sptile_arrays csr = SPTILE_ARRAYS_INIT;
  csr.rows = 2, csr.cols = 3, csr.nnz = 3;
  csr.row = memory.row_ptr.data(), csr.col = memory.col_idx.data();
  Memory turned;
  sptile_tools_sorted transposed = turned.sorted();
  transposed.position = nullptr;
  REQUIRE(sptile_tools_transpose_pattern(&csr, &transposed) == SPTILE_STATUS_OK);
  CHECK(turned.row_ptr == std::vector<std::int64_t>{0, 1, 2, 3});
  CHECK(turned.col_idx == std::vector<std::int32_t>{1, 0, 1});
  CHECK(turned.source == std::vector<std::int32_t>{1, 0, 2});

  const std::vector<double> x{1, 10, 100};
  std::vector<double> out(2, -1);
  sptile_tools_rows rows = SPTILE_TOOLS_ROWS_INIT;
  rows.x = x.data(), rows.out = out.data(), rows.n = 1, rows.dtype = SPTILE_DTYPE_F64;
  REQUIRE(sptile_tools_add_rows(&entries, &rows) == SPTILE_STATUS_OK);
  CHECK(out == std::vector<double>{10, 101});
}

TEST_CASE("invalid arrays of entries are refused") {
  const Given given;
  const auto refused = [&](const char* part,
                           const std::function<void(sptile_arrays&, sptile_tools_sorted&)>& spoil) {
    Memory memory;
    sptile_arrays entries = given.arrays();
    sptile_tools_sorted sorted = memory.sorted();
    spoil(entries, sorted);
    CHECK(sptile_tools_sort_entries(&entries, &sorted) == SPTILE_STATUS_USAGE);
    CHECK_MESSAGE(says(part), part << ": " << sptile_tools_last_error());
    CHECK(memory.col_idx == std::vector<std::int32_t>(3, -1));
  };
  refused("layout must be SPTILE_LAYOUT_COO", [](auto& a, auto&) { a.layout = SPTILE_LAYOUT_CSR; });
  refused("device must be", [](auto& a, auto&) { a.device = SPTILE_DEVICE_CUDA; });
  refused("rows must be from 0", [](auto& a, auto&) { a.rows = -1; });
  refused("cols must be from 0", [](auto& a, auto&) { a.cols = std::int64_t{1} << 31; });
  refused("nnz must not be negative", [](auto& a, auto&) { a.nnz = -1; });
  refused("arrays.row is NULL", [](auto& a, auto&) { a.row = nullptr; });
  refused("arrays.col is NULL", [](auto& a, auto&) { a.col = nullptr; });
  refused("must both be SPTILE_DTYPE_I32", [](auto& a, auto&) { a.col_dtype = SPTILE_DTYPE_I32; });
  refused("arrays.size = 4", [](auto& a, auto&) { a.size = 4; });
  refused("sorted.size = 8", [](auto&, auto& s) { s.size = 8; });
  refused("sorted.row_ptr is NULL", [](auto&, auto& s) { s.row_ptr = nullptr; });
  refused("sorted.position is NULL", [](auto&, auto& s) { s.position = nullptr; });
  refused("sorted.source is NULL", [](auto&, auto& s) { s.source = nullptr; });

  Given outside;
  outside.col[0] = 3;
  const sptile_arrays entries = outside.arrays();
  Memory memory;
  sptile_tools_sorted sorted = memory.sorted();
  CHECK(sptile_tools_sort_entries(&entries, &sorted) == SPTILE_STATUS_BAD_INPUT);
  CHECK(says("col[0] is 3; expected 0 to 2"));
  CHECK(sptile_tools_sort_entries(nullptr, &sorted) == SPTILE_STATUS_USAGE);
  CHECK(sptile_tools_sort_entries(&entries, nullptr) == SPTILE_STATUS_USAGE);
  CHECK(sptile_tools_transpose_pattern(&entries, &sorted) == SPTILE_STATUS_USAGE);
}

TEST_CASE("invalid operands of add_rows are refused") {
  const Given given;
  const sptile_arrays entries = given.arrays();
  float x[3] = {1, 2, 3}, out[2] = {7, 7};
  const auto refused = [&](const char* part, const std::function<void(sptile_tools_rows&)>& spoil) {
    sptile_tools_rows rows = SPTILE_TOOLS_ROWS_INIT;
    rows.x = x, rows.out = out, rows.n = 1, rows.dtype = SPTILE_DTYPE_F32;
    spoil(rows);
    CHECK(sptile_tools_add_rows(&entries, &rows) == SPTILE_STATUS_USAGE);
    CHECK_MESSAGE(says(part), part << ": " << sptile_tools_last_error());
  };
  refused("rows.n must be", [](auto& r) { r.n = -1; });
  refused("rows.n must be", [](auto& r) { r.n = std::int64_t{1} << 40; });
  refused("rows.x is NULL", [](auto& r) { r.x = nullptr; });
  refused("rows.out is NULL", [](auto& r) { r.out = nullptr; });
  refused("rows.dtype must be", [](auto& r) { r.dtype = SPTILE_DTYPE_F16; });
  refused("rows.size", [](auto& r) { r.size = 8; });
  CHECK(sptile_tools_add_rows(&entries, nullptr) == SPTILE_STATUS_USAGE);
  CHECK(out[0] == 7);
}

TEST_CASE("samples are described, and invalid ones are refused") {
  const Pair pair;
  const sptile_arrays graph = pair.arrays();
  const sptile_tools_sampling sampling = pair.sampling();
  sptile_tools_sample* sample = nullptr;
  REQUIRE(sptile_tools_sample_create(&graph, &sampling, &sample) == SPTILE_STATUS_OK);
  sptile_tools_sampled found{};
  found.size = sizeof found;
  REQUIRE(sptile_tools_sample_arrays(sample, &found) == SPTILE_STATUS_OK);
  CHECK(found.nodes == 2);
  CHECK(found.edges == 2);
  CHECK(std::vector(found.node_ids, found.node_ids + 2) == std::vector<std::int64_t>{0, 1});
  CHECK(std::vector(found.row_ptr, found.row_ptr + 3) == std::vector<std::int64_t>{0, 1, 2});
  CHECK(std::vector(found.col_idx, found.col_idx + 2) == std::vector<std::int32_t>{1, 0});
  CHECK(std::vector(found.ends, found.ends + 3) == std::vector<std::int64_t>{1, 2, 2});
  found.size = 8;
  CHECK(sptile_tools_sample_arrays(sample, &found) == SPTILE_STATUS_USAGE);
  CHECK(sptile_tools_sample_arrays(sample, nullptr) == SPTILE_STATUS_USAGE);
  CHECK(sptile_tools_sample_arrays(nullptr, &found) == SPTILE_STATUS_USAGE);
  sptile_tools_sample_destroy(sample);
  sptile_tools_sample_destroy(nullptr);

  const auto refused = [&](const char* part,
                           const std::function<void(sptile_arrays&, sptile_tools_sampling&)>& spoil) {
    sptile_arrays a = pair.arrays();
    sptile_tools_sampling s = pair.sampling();
    spoil(a, s);
    sptile_tools_sample* made = sample;
    CHECK(sptile_tools_sample_create(&a, &s, &made) == SPTILE_STATUS_USAGE);
    CHECK(made == nullptr);
    CHECK_MESSAGE(says(part), part << ": " << sptile_tools_last_error());
  };
  refused("square", [](auto& a, auto&) { a.cols = 3; });
  refused("SPTILE_DTYPE_I64 offsets", [](auto& a, auto&) { a.row_dtype = SPTILE_DTYPE_I32; });
  refused("arrays.row is NULL", [](auto& a, auto&) { a.row = nullptr; });
  refused("seed 0 is node 9", [](auto&, auto& s) {
    static const std::int64_t outside = 9;
    s.seeds = &outside;
  });
  refused("-1 seeds", [](auto&, auto& s) { s.seed_count = -1; });
  refused("1 seeds", [](auto&, auto& s) { s.seeds = nullptr; });
  refused("2 fan-outs", [](auto&, auto& s) { s.fan_outs = nullptr; });
  refused("sampling.size", [](auto&, auto& s) { s.size = 8; });
  CHECK(sptile_tools_sample_create(&graph, nullptr, &sample) == SPTILE_STATUS_USAGE);
  CHECK(sptile_tools_sample_create(&graph, &sampling, nullptr) == SPTILE_STATUS_USAGE);
}
