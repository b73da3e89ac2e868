// Test of one property of one instance.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "tests/property/problem.hpp"
#include "tests/property/report.hpp"

namespace sptile::test {

/// A plan of a case, with its operands.
struct Planned {
  Problem problem;
  std::shared_ptr<runtime::ProductPlan> plan;
};

class Session {
 public:
  Session(Machine& machine, Matrices& matrices, Report& report, const std::string& cases)
      : machine_(machine), matrices_(matrices), report_(report), cases_(cases) {}

  void begin(const Instance& instance, std::string_view property);

  [[nodiscard]] const Instance& instance() const { return *instance_; }
  [[nodiscard]] const runtime::Operation& op() const { return instance_->op(); }
  [[nodiscard]] Machine& machine() const { return machine_; }

  /// Runs `body`, which returns an error or an empty string, as a case. Skipped if the instance does not
  /// support the sizes, the device is missing, or another case was requested.
  void run_case(const Setting& setting, const std::function<std::string(const Setting&)>& body);

  /// Plans a case; an error is a failure.
  Result<Planned> plan(const Setting& setting,
                       const std::function<void(runtime::PlanOptions&, runtime::PlanMatrix&)>& change = {});
  /// Returns the case's random numbers, which do not depend on other cases.
  [[nodiscard]] Random random(const Setting& setting) const;
  [[nodiscard]] const Matrix& matrix(const Setting& setting);

 private:
  [[nodiscard]] bool supports(const Setting& setting);
  [[nodiscard]] std::optional<Setting> served(const Setting& requested);

  Machine& machine_;
  Matrices& matrices_;
  Report& report_;
  const std::string& cases_;  ///< a pattern
  const Instance* instance_ = nullptr;
  std::string_view property_;
  std::set<std::string> done_;  ///< finished cases of the property
};

}  // namespace sptile::test
