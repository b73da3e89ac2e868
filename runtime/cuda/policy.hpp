// Values of tuning policies. A policy is a POD of ints: the constants of a kernel family that decide speed,
// not results. Its family defines ..._policy_for(capability, ...).
#pragma once

#include <array>
#include <string_view>
#include <vector>

namespace sptile::runtime::cuda {

/// Name and value of a member.
struct PolicyValue {
  std::string_view name;
  int value = 0;

  bool operator==(const PolicyValue&) const = default;
};
using PolicyValues = std::vector<PolicyValue>;

/// Returns the members of a policy, in the order of their declaration.
template <class Policy>
PolicyValues policy_values(const Policy& policy) {
  const auto members = policy.members();
  static_assert(sizeof(Policy) == sizeof members, "SPTILE_POLICY_MEMBERS lacks a member");
  PolicyValues values;
  std::string_view names = Policy::kNames;
  for (const int value : members) {
    const std::size_t end = names.find(',');
    values.push_back({names.substr(0, end), value});
    if (end != std::string_view::npos) names.remove_prefix(end + 2);
  }
  return values;
}

/// Returns the members of kPolicyFor(capability, kArguments...), for DeviceKernel::policy.
template <auto kPolicyFor, auto... kArguments>
PolicyValues policy_values_for(int capability) {
  return policy_values(kPolicyFor(capability, kArguments...));
}

}  // namespace sptile::runtime::cuda

/// Names all members of a policy, in a policy.
#define SPTILE_POLICY_MEMBERS(...)                         \
  static constexpr std::string_view kNames = #__VA_ARGS__; \
  [[nodiscard]] constexpr auto members() const { return std::array{__VA_ARGS__}; }
