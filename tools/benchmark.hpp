// Measures all combinations of matrices, orderings, formats, precisions and N, and keeps the rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/csv_log.hpp"
#include "tools/cuda/device_bench.hpp"
#include "tools/format_choice.hpp"
#include "tools/measure.hpp"
#include "tools/order.hpp"

namespace sptile::tools {

/// One way to multiply, and the types that go with it.
struct PrecisionChoice {
  std::string name;           ///< as typed; empty: the kernel's own
  DType values = DType::f32;  ///< of A
  std::string dense;          ///< of B and C; empty: by the values
};

/// Reads a list with commas; empty: the kernels' own. fp16, bf16 and fp64 mean operands of that type. `dtype`
/// and `dense` win over that when they are not empty. Errc::usage names what is unknown.
Result<std::vector<PrecisionChoice>> parse_precisions(const std::string& list, const std::string& dtype,
                                                      const std::string& dense);

/// What to measure; checked.
struct BenchTask {
  std::vector<std::string> inputs;
  std::vector<FormatChoice> formats;
  std::vector<Ordering> orderings;
  std::vector<PrecisionChoice> precisions;
  std::vector<std::int64_t> columns;
  bool random_values = false;  ///< instead of those of the file
  bool real_part = false, check = true, flush_l2 = false, cusparse = true;
  SpmmRequest request;  ///< kernel "all": each kernel of a format by itself
};

class Benchmark {
 public:
  Benchmark(Session& session, const BenchTask& task, CsvLog log)
      : session_(session), task_(task), log_(std::move(log)) {}

  /// Measures what the log lacks. Rows are written as they come. Wrong results do not stop it, see worst().
  /// A kernel that has no products of a precision is left out, unless there is nothing else to measure.
  Status run();

  [[nodiscard]] const Json& rows() const { return rows_; }
  [[nodiscard]] std::int64_t resumed() const { return resumed_; }  ///< rows that were there before
  [[nodiscard]] const Status& worst() const { return worst_; }     ///< of the first wrong result
  [[nodiscard]] Json device() const;  ///< what was measured of the device; null when it was not needed

 private:
  struct Matrix;
  struct Types;
  struct Ordered;

  Status bench_matrix(const std::string& path);
  Status bench_order(const Matrix& matrix, const Ordering& ordering);
  Status bench_types(const Matrix& matrix, Ordered& ordered, const Types& types);
  Status bench_cusparse(const Matrix& matrix, const Types& types, std::int64_t n);
  Status prepare_device(const Matrix& matrix, const Types& types, std::int64_t n);
  bool take_over(const Json& key);
  Status skip_or_fail(const Error& error);
  Status keep(Json row, const SpmmMeasurement& measured);

  [[nodiscard]] std::vector<std::string> kernels_of(const FormatChoice& format) const;
  [[nodiscard]] Json key_of(const Matrix& matrix, const Types& types) const;

  Session& session_;
  const BenchTask& task_;
  CsvLog log_;
  std::unique_ptr<DeviceBench> device_;
  std::string on_device_;  // which matrix and types
  std::map<std::string, double> cusparse_us_;  // the best of each matrix, types and N
  Json rows_ = Json::array();
  std::int64_t resumed_ = 0;
  Status worst_;
};

}  // namespace sptile::tools
