#include "tests/property/session.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <exception>

#include "runtime/core/gatv2_operands.hpp"

namespace sptile::test {

void Session::begin(const Instance& instance, std::string_view property) {
  instance_ = &instance;
  property_ = property;
  done_.clear();
}

const Matrix& Session::matrix(const Setting& setting) {
  return matrices_.get(setting.shape, instance_->values, instance_->kernel->format, setting.permuted,
                       setting.parameter);
}

bool Session::supports(const Setting& setting) {
  return test::supports(*instance_, matrix(setting).csr.cols, options_of(*instance_, setting));
}

/// Returns the setting on an existing device, with a number of features that the operation supports and a
/// number of columns that the kernel supports; nullopt if there is none.
std::optional<Setting> Session::served(const Setting& requested) {
  Setting setting = requested;
  if (setting.device >= machine_.devices()) setting.device = 0;  // emulated devices differ in multiprocessors
  if (op().name.starts_with("gatv2_edges"))
    setting.m = std::min<std::int64_t>(setting.m, runtime::kMostFeatures);
  if (supports(setting)) return setting;
  for (const std::int64_t n : {1, 128}) {
    Setting other = setting;
    (setting.planned != 0 ? other.planned : other.n) = n;
    if ((setting.planned == 0 || other.n < other.planned) && supports(other)) return other;
  }
  return std::nullopt;
}

void Session::run_case(const Setting& wanted, const std::function<std::string(const Setting&)>& body) {
  const std::optional<Setting> setting = served(wanted);
  if (!setting) return;
  const std::string place = describe(*instance_) + ", " + describe(*setting, op());
  if (fnmatch(cases_.c_str(), place.c_str(), 0) != 0 || !done_.insert(place).second) return;
  std::string wrong;
  try {
    wrong = body(*setting);
  } catch (const std::exception& thrown) {
    wrong = std::string("thrown: ") + thrown.what();
  }
  if (wrong.empty())
    report_.passed(instance_->kernel->name, property_);
  else
    report_.failed(instance_->kernel->name, property_, place, wrong);
}

Random Session::random(const Setting& setting) const {
  const std::string place = describe(*instance_) + describe(setting, op());
  std::uint64_t seed = 14695981039346656037U;  // FNV-1a, the same in every build
  for (const char c : place) seed = (seed ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return Random(seed);
}

Result<Planned> Session::plan(
    const Setting& setting, const std::function<void(runtime::PlanOptions&, runtime::PlanMatrix&)>& change) {
  Random random = this->random(setting);
  Problem problem(*instance_, setting, matrix(setting), random);
  runtime::PlanOptions options = options_of(*instance_, setting);
  runtime::PlanMatrix a = problem.matrix().formatted.matrix();
  if (change) change(options, a);
  auto made = runtime::plan_product(op(), a, options);
  if (!made) return tl::unexpected(made.error());
  if (precision_of(**made) != instance_->precision)
    return fail(Errc::check_failed, "the plan has precision " + std::string(name_of(precision_of(**made))));
  return Planned{std::move(problem), std::move(*made)};
}

}  // namespace sptile::test
