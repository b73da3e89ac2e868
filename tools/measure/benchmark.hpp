// Measures all combinations of matrices, orderings, formats, precisions and N, and stores the rows.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "tools/cli/input_options.hpp"
#include "tools/measure/bench_conversions.hpp"
#include "tools/measure/csv_log.hpp"
#include "tools/measure/host_bench.hpp"
#include "tools/measure/product_bench.hpp"

namespace sptile::tools {

/// Checked description of a benchmark.
struct BenchTask {
  std::vector<std::string> inputs;
  std::vector<FormatChoice> formats;
  std::vector<Ordering> orderings;
  std::vector<PrecisionChoice> precisions;
  std::vector<std::int64_t> columns;  ///< values of N
  bool random_values = false;         ///< replace the values of the file
  bool random_patterns = false;       ///< give random values to patterns only
  bool check = true, flush_l2 = false, graph = false, cusparse = true;
  InputOptions input;
  const runtime::Operation* op = nullptr;
  ProductAttributes attributes = {};
  runtime::Device device = runtime::Device::cpu;
  Repeats repeats;     ///< on a CPU
  std::string kernel;  ///< "all": each kernel of a format separately
  /// Replaces `kernel` if not empty: several names, each for its format; an empty name is the planner's
  /// choice.
  std::vector<std::string> kernels = {};
  /// Called with the identifying keys of a row before it is reused or measured, and may add keys. Returns
  /// whether to measure the row. Empty: all combinations.
  std::function<bool(Json& key)> select = {};
  std::function<void(const Json& row)> observe;  ///< called for each new row; may be empty
};

/// A matrix whose measurement failed or is incomplete.
struct FailedInput {
  std::string path;
  Error error;
};

/// Returns the error of matrices that failed, at least one of `inputs` inputs.
Status not_measured(std::span<const FailedInput> failed, std::int64_t inputs);

class Benchmark {
 public:
  Benchmark(Session& session, const BenchTask& task, CsvLog log, std::unique_ptr<ProductBench> bench)
      : session_(session), task_(task), log_(std::move(log)), bench_(std::move(bench)) {}

  /// Measures the rows that the log lacks and appends each to the log. Continues after wrong results and
  /// after matrices that cannot be read or measured: see outcome(). Checks the headers of all matrices first.
  /// Combinations that no kernel supports are skipped with a note. Fails if the log cannot be written.
  Status run();
  /// Returns the outcome of a run: the first wrong result, else the failed matrices, else, if nothing was
  /// measured, the reason for skipping the first combination.
  [[nodiscard]] Status outcome() const;

  [[nodiscard]] const Json& rows() const { return rows_; }
  [[nodiscard]] std::int64_t resumed() const { return resumed_; }  ///< rows that existed before
  [[nodiscard]] const std::vector<FailedInput>& failed() const { return failed_; }
  [[nodiscard]] std::optional<DeviceFacts> device() const { return bench_->facts(); }
  /// Returns the reasons for skipped combinations, without duplicates.
  [[nodiscard]] const std::set<std::string>& skipped() const { return noted_; }

 private:
  std::vector<std::string> probe_inputs();
  Status bench_matrix(const std::string& path);
  Status try_matrix(const std::string& path);
  void note_failure(const std::string& path, const Error& error);
  Status bench_types(const TypedMatrix& matrix, OrderedMatrix& ordered);
  Status bench_yardsticks(const TypedMatrix& matrix, std::int64_t n);
  Status bench_format(const TypedMatrix& matrix, BenchConversions& conversions, std::size_t format, Json key);
  Status prepare(const TypedMatrix& matrix, std::int64_t n);
  template <class Measure>
  Result<Measurement> measure(const TypedMatrix& matrix, std::int64_t n, Measure one);
  Status keep(Json row, const Measurement& measured);
  void show(Json row);
  Status skip(const Error& error);
  bool reuse_row(const Json& key);
  [[nodiscard]] bool wants(Json& key) const { return !task_.select || task_.select(key); }
  [[nodiscard]] std::int64_t rows_of_format(const FormatChoice& format) const;
  [[nodiscard]] std::int64_t rows_of_matrix() const;
  void expect_rows(std::int64_t rows);
  [[nodiscard]] Json key_of(const TypedMatrix& matrix) const;
  [[nodiscard]] std::vector<std::string> kernels_of(const FormatChoice& format) const;

  Session& session_;
  const BenchTask& task_;
  CsvLog log_;
  std::unique_ptr<ProductBench> bench_;
  bool random_ = false;                         // the values of this matrix are random
  std::string prepared_;                        // label of the types with which the bench was prepared
  std::map<std::string, double> yardstick_us_;  // minimum time for this matrix, by types and N
  std::set<std::string> noted_;
  Json rows_ = Json::array();
  std::int64_t resumed_ = 0, expected_ = 0;
  std::vector<FailedInput> failed_;
  Status worst_, left_out_;  // the first error of each kind
  Status log_status_;        // status of writing rows
};

}  // namespace sptile::tools
