// What the handles of the C interface hold.
#pragma once

#include <memory>

#include "runtime/bundle.hpp"
#include "runtime/spmm.hpp"

struct sptile_bundle {
  std::shared_ptr<const sptile::runtime::Bundle> bundle;
};

struct sptile_plan {
  std::shared_ptr<sptile::runtime::ProductPlan> plan;
};
