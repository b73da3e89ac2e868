// Text of tuning policies. A policy is a POD of ints: the constants of a kernel family that decide speed, not
// results. Its family defines policy_for(capability, ...), and kPolicyFields with one row per member.
#pragma once

#include <iterator>
#include <string>
#include <string_view>

namespace sptile::runtime::cuda {

/// Pointer to a member of a policy. An alias, because nvcc writes `int (Policy::*x)` otherwise and g++ warns.
template <class Policy>
using PolicyMember = int Policy::*;

/// Name of a member of a policy.
template <class Policy>
struct PolicyField {
  std::string_view name;
  PolicyMember<Policy> member;
};

/// Members of a policy, in the order of their declaration.
template <class Policy>
inline constexpr PolicyField<Policy> kPolicyFields[1] = {};

/// Returns "name=value" for each member of a policy, separated by spaces.
template <class Policy>
std::string policy_text(const Policy& policy) {
  static_assert(sizeof(Policy) == std::size(kPolicyFields<Policy>) * sizeof(int), "a member has no field");
  std::string text;
  for (const PolicyField<Policy>& field : kPolicyFields<Policy>)
    text += (text.empty() ? "" : " ") + std::string(field.name) + "=" + std::to_string(policy.*field.member);
  return text;
}

}  // namespace sptile::runtime::cuda
