#include <doctest/doctest.h>

#include <algorithm>

#include "runtime/cuda/backend.hpp"
#include "runtime/cuda/families/sddmm/policy.hpp"
#include "runtime/cuda/families/tall/policy.hpp"
#include "runtime/cuda/families/tile/policy.hpp"
#include "runtime/kernels/kernels.hpp"

using namespace sptile;
using namespace sptile::runtime::cuda;

TEST_CASE("the values of a policy are its members by name, in the order of declaration") {
  const PolicyValues values = policy_values_for<tile_policy_for, DType::f16, 16>(90);
  CHECK(values.front() == PolicyValue{"unaligned_registers", 112});
  CHECK(values.back() == PolicyValue{"max_team_piece", 16});
  CHECK(std::ranges::count(policy_values(tall_policy_for(90)), PolicyValue{"values_bytes", 8192}) == 1);
}

TEST_CASE("policies compare by members") {
  CHECK(tile_policy_for(90, DType::f16, 8) == tile_policy_for(90, DType::bf16, 8));
  CHECK(tile_policy_for(90, DType::f32, 8) != tile_policy_for(90, DType::f32, 16));
  CHECK(sddmm_policy_for(90, DType::f32, 0) != sddmm_policy_for(90, DType::f32, 8));
}

TEST_CASE("each CUDA kernel that plans may choose has a policy for each instance") {
  std::size_t instances = 0;
  for (const runtime::Kernel& kernel : runtime::kernels())
    for (const DeviceKernel& instance : runtime::instances_of(kernel)) {
      CAPTURE(kernel.name);
      if (!kernel.by_name) CHECK((instance.policy != nullptr && !instance.policy(90).empty()));
      ++instances;
    }
  CHECK((instances > 0) == built());
  CHECK(built_capabilities().empty() == !built());
}
