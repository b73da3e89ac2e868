// Operands of one case: their bytes before and after a run, and checks of the results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "formats/core/error.hpp"
#include "runtime/operation/operation.hpp"
#include "runtime/plan/plan.hpp"
#include "tests/property/instance.hpp"
#include "tests/property/machine.hpp"
#include "tests/property/setting.hpp"
#include "tests/property/shapes.hpp"

namespace sptile::test {

/// Returns the plan options of a case.
runtime::PlanOptions options_of(const Instance& instance, const Setting& setting);

/// Memory of one operand. Results are between guards; inputs end at their last element.
struct Image {
  std::vector<std::byte> bytes;
  std::size_t begin = 0;  ///< offset of the first element
  bool present = true;
  runtime::Operand operand;            ///< without its address
  std::vector<std::int64_t> elements;  ///< offsets of the operand's elements relative to `begin`

  [[nodiscard]] runtime::Operand at(std::byte* memory) const;
};

/// Operands of a run in the memory of a machine.
struct Uploaded {
  std::vector<std::shared_ptr<std::byte>> memory;
  runtime::Operands operands;
};

/// The bytes of all operands after a run.
using Outcome = std::vector<std::vector<std::byte>>;

class Problem {
 public:
  Problem(const Instance& instance, const Setting& setting, const Matrix& matrix, Random& random);

  [[nodiscard]] const Instance& instance() const { return *instance_; }
  [[nodiscard]] const Setting& setting() const { return setting_; }
  [[nodiscard]] const runtime::Operation& op() const { return instance_->op(); }
  [[nodiscard]] const Matrix& matrix() const { return *matrix_; }
  /// Returns the sizes of an operand.
  [[nodiscard]] runtime::OperandShape shape(std::size_t operand) const;
  [[nodiscard]] runtime::OperandSizes sizes() const;

  /// Sets an element of an operand before a run.
  void set(std::size_t operand, std::int64_t row, std::int64_t column, double x);
  /// Replaces the numbers of all inputs.
  void draw_again(Random& random);
  /// Copies the elements of an operand to another of the same shape.
  void copy(std::size_t from, std::size_t to) { images_[to].bytes = images_[from].bytes; }
  /// Lets a run read an operand at the address of another.
  void alias(std::size_t operand, std::size_t other) { alias_ = {operand, other}; }
  /// Sets the values of the matrix, one per entry in CSR order, as for a refreshed plan.
  void set_values(formats::Array values);
  /// Accepts any non-finite number for a non-finite reference.
  void accept_any_nonfinite() { any_nonfinite_ = true; }
  /// Accepts NaN in a column of results for any reference; -1: all columns.
  void accept_nan_in(std::int64_t column) { nan_column_ = column; }

  /// Runs the plan on copies of the operands. Fails if the run is refused or writes outside the results.
  Result<Outcome> run(Machine& machine, const runtime::ProductPlan& plan,
                      const std::shared_ptr<std::byte>& workspace = nullptr) const;
  /// The parts of run() before and after the run.
  Uploaded upload(Machine& machine, const runtime::ProductPlan& plan,
                  const std::shared_ptr<std::byte>& workspace = nullptr) const;
  Result<Outcome> collect(Machine& machine, const Uploaded& uploaded) const;
  /// Returns the first wrong element; empty if all are correct.
  [[nodiscard]] std::string first_error(const Outcome& outcome) const;
  /// Returns the first different result; empty if they are equal.
  [[nodiscard]] std::string first_difference(const Outcome& a, const Outcome& b) const;

 private:
  [[nodiscard]] DType type(std::size_t operand) const;
  [[nodiscard]] bool is_last(std::size_t operand) const { return operand + 1 == op().operands.size(); }
  void place(std::size_t operand);
  void fill(std::size_t operand, Random& random);
  void make_values(Random& random);
  [[nodiscard]] formats::Csr matrix_of_head(std::int64_t head) const;
  [[nodiscard]] std::string what_was_touched(const Outcome& outcome) const;
  [[nodiscard]] double bound(const runtime::ReferenceProduct& product) const;
  [[nodiscard]] bool accepts(double expected, double computed, std::int64_t column) const;
  [[nodiscard]] std::string element_name(std::size_t operand, std::int64_t at) const;

  const Instance* instance_;
  Setting setting_;
  const Matrix* matrix_;
  runtime::Variant variant_;
  std::vector<Image> images_;
  Image values_;  ///< values of the run
  std::int64_t values_batch_ = 0;
  std::shared_ptr<const formats::Array> refreshed_;
  std::pair<std::size_t, std::size_t> alias_ = {0, 0};
  static constexpr std::int64_t kNowhere = -2;
  bool any_nonfinite_ = false;
  std::int64_t nan_column_ = kNowhere;
};

}  // namespace sptile::test
