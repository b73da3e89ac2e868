// Handle types of the C interface.
#pragma once

#include <memory>

#include "runtime/bundle/part.hpp"
#include "runtime/handle/matrix.hpp"
#include "runtime/plan/product_plan.hpp"

struct sptile_matrix {
  std::shared_ptr<sptile::runtime::Matrix> matrix;
};

struct sptile_plan {
  std::shared_ptr<sptile::runtime::ProductPlan> plan;
};

struct sptile_part {
  sptile::runtime::Part part;
};
