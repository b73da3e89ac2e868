// Declarations that the code fragments of the documentation use. blocks_test.py compiles each fragment as the
// body of a function after them.
#pragma once

#include <sptile.h>
#include <sptile_tools.h>

#include <cmath>
#include <iostream>
#include <sptile.hpp>
#include <vector>

// Sizes and device pointers of an application.
inline const std::int64_t D = 64, H = 32, features = 32, columns = 16, rows = 0, cols = 0, nnz = 0;
inline const float *b, *w, *bias, *x, *y, *v, *dc, *dout, *values;
inline float *c, *z, *g, *dbias, *dw, *db, *statistics, *delta, *out, *dx, *dv, *dy;
inline const std::int64_t* row_ptr;
inline const std::int32_t* col_idx;
inline void* stream;

// Host arrays of an application.
inline std::vector<float> queries, keys, dense, result, numbers;

// Handles of the C interface.
inline sptile_matrix* matrix;
inline sptile_plan* plan;
inline sptile_arrays parts[1000];
inline sptile_plan_options options;
inline sptile::Matrix& fem = *static_cast<sptile::Matrix*>(nullptr);
