#include <doctest/doctest.h>

#include "runtime/cuda/families/sddmm/policy.hpp"
#include "runtime/cuda/families/tall/policy.hpp"
#include "runtime/cuda/families/tile/policy.hpp"

using namespace sptile;
using namespace sptile::runtime::cuda;

TEST_CASE("the text of a policy has the value of each member by name") {
  const std::string text = policy_text(tile_policy_for(90, DType::f16, 16));
  CHECK(text.starts_with("unaligned_registers=112 half_registers=104 registers_1=120 registers_2=168 "));
  CHECK(text.ends_with(" max_team_piece=16"));
  CHECK(policy_text(tall_policy_for(90)).find(" values_bytes=8192 ") != std::string::npos);
}

TEST_CASE("policies compare by members") {
  CHECK(tile_policy_for(90, DType::f16, 8) == tile_policy_for(90, DType::bf16, 8));
  CHECK(tile_policy_for(90, DType::f32, 8) != tile_policy_for(90, DType::f32, 16));
  CHECK(sddmm_policy_for(90, DType::f32, 0) != sddmm_policy_for(90, DType::f32, 8));
}
