// Rows of `bench` for tests.
#pragma once

#include <string>

#include "tools/cli/json.hpp"
#include "tools/measure/bench_rows.hpp"

namespace sptile::tools::test {

struct RowSample {
  std::string format = "csr", reorder = "identity";
  double us = 100;
  std::string kernel = "";  ///< empty: cpu.FORMAT
  std::string precision = "fp32", dtype = "f32";
  double spread = 0, convert_us = 0, reorder_us = 0;
  std::string matrix = "a.mtx", host = "here";
  std::int64_t n = 128;
  std::string op = "spmm";
};

inline Json row(const RowSample& sample) {
  const std::string kernel = sample.kernel.empty() ? "cpu." + sample.format : sample.kernel;
  Json row = {{"matrix", sample.matrix},
              {"content", sample.matrix + sample.dtype},
              {"rows", 10},
              {"cols", 10},
              {"nnz", 20},
              {"values", "file"},
              {"version", "1"},
              {"host", sample.host},
              {"reorder", sample.reorder},
              {"window_rows", 8},
              {"device", "cpu"},
              {"op", sample.op},
              {"format", sample.format},
              {"wanted_kernel", kernel.starts_with("cusparse.") ? kernel : ""},
              {"n", sample.n},
              {"flush_l2", false},
              {"graph", false},
              {"threads", 0},
              {"wanted_precision", sample.precision},
              {"kernel", kernel},
              {"value_dtype", sample.dtype},
              {"dtype", sample.dtype},
              {"result_dtype", sample.dtype},
              {"precision", sample.precision},
              {"median_us", sample.us},
              {"spread", sample.spread},
              {"repeat", 10},
              {"gflops", 1},
              {"convert_us", sample.convert_us},
              {"reorder_us", sample.reorder_us}};
  complete_row(row);
  return row;
}

}  // namespace sptile::tools::test
