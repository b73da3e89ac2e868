/* Prints the structs of the C interface: sizes, and the place of each field. */
#include <stddef.h>
#include <stdio.h>

#include "sptile.h"

#define STRUCT(type) printf("%s %zu\n", #type, sizeof(type))
#define FIELD(type, field) printf("  %s %zu %zu\n", #field, offsetof(type, field), sizeof(((type*)0)->field))

int main(void) {
  STRUCT(sptile_matrix_options);
  FIELD(sptile_matrix_options, size);
  FIELD(sptile_matrix_options, refreshable);
  FIELD(sptile_matrix_options, trusted);
  FIELD(sptile_matrix_options, copy);
  FIELD(sptile_matrix_options, reserved);
  FIELD(sptile_matrix_options, most_device_bytes);
  STRUCT(sptile_arrays);
  FIELD(sptile_arrays, size);
  FIELD(sptile_arrays, rows);
  FIELD(sptile_arrays, cols);
  FIELD(sptile_arrays, nnz);
  FIELD(sptile_arrays, row);
  FIELD(sptile_arrays, col);
  FIELD(sptile_arrays, values);
  FIELD(sptile_arrays, value_dtype);
  FIELD(sptile_arrays, layout);
  FIELD(sptile_arrays, row_dtype);
  FIELD(sptile_arrays, col_dtype);
  FIELD(sptile_arrays, disorder);
  FIELD(sptile_arrays, device);
  FIELD(sptile_arrays, ordinal);
  FIELD(sptile_arrays, reserved);
  STRUCT(sptile_matrix_info);
  FIELD(sptile_matrix_info, size);
  FIELD(sptile_matrix_info, rows);
  FIELD(sptile_matrix_info, cols);
  FIELD(sptile_matrix_info, nnz);
  FIELD(sptile_matrix_info, value_dtype);
  FIELD(sptile_matrix_info, format_count);
  FIELD(sptile_matrix_info, symmetric);
  FIELD(sptile_matrix_info, transposed);
  FIELD(sptile_matrix_info, host_bytes);
  FIELD(sptile_matrix_info, device_bytes);
  STRUCT(sptile_values);
  FIELD(sptile_values, size);
  FIELD(sptile_values, data);
  FIELD(sptile_values, count);
  FIELD(sptile_values, value_dtype);
  FIELD(sptile_values, reserved);
  FIELD(sptile_values, order);
  STRUCT(sptile_plan_options);
  FIELD(sptile_plan_options, size);
  FIELD(sptile_plan_options, n);
  FIELD(sptile_plan_options, format);
  FIELD(sptile_plan_options, kernel);
  FIELD(sptile_plan_options, dense);
  FIELD(sptile_plan_options, device);
  FIELD(sptile_plan_options, ordinal);
  FIELD(sptile_plan_options, threads);
  FIELD(sptile_plan_options, nonfinite);
  FIELD(sptile_plan_options, precision);
  FIELD(sptile_plan_options, choice);
  FIELD(sptile_plan_options, transpose);
  FIELD(sptile_plan_options, result);
  FIELD(sptile_plan_options, order);
  FIELD(sptile_plan_options, replan);
  FIELD(sptile_plan_options, reserved);
  FIELD(sptile_plan_options, stream);
  STRUCT(sptile_plan_info);
  FIELD(sptile_plan_info, size);
  FIELD(sptile_plan_info, operation);
  FIELD(sptile_plan_info, format);
  FIELD(sptile_plan_info, kernel);
  FIELD(sptile_plan_info, rows);
  FIELD(sptile_plan_info, cols);
  FIELD(sptile_plan_info, entries);
  FIELD(sptile_plan_info, n);
  FIELD(sptile_plan_info, least_n);
  FIELD(sptile_plan_info, workspace_bytes);
  FIELD(sptile_plan_info, dense);
  FIELD(sptile_plan_info, result);
  FIELD(sptile_plan_info, precision);
  FIELD(sptile_plan_info, device);
  FIELD(sptile_plan_info, ordinal);
  FIELD(sptile_plan_info, order);
  FIELD(sptile_plan_info, stored);
  FIELD(sptile_plan_info, reserved);
  STRUCT(sptile_prediction);
  FIELD(sptile_prediction, format);
  FIELD(sptile_prediction, kernel);
  FIELD(sptile_prediction, microseconds);
  FIELD(sptile_prediction, precision);
  FIELD(sptile_prediction, usable);
  FIELD(sptile_prediction, chosen);
  FIELD(sptile_prediction, reserved);
  STRUCT(sptile_operand);
  FIELD(sptile_operand, data);
  FIELD(sptile_operand, ld);
  STRUCT(sptile_operands);
  FIELD(sptile_operands, size);
  FIELD(sptile_operands, alpha);
  FIELD(sptile_operands, beta);
  FIELD(sptile_operands, scaled);
  FIELD(sptile_operands, reserved);
  FIELD(sptile_operands, n);
  FIELD(sptile_operands, dense);
  STRUCT(sptile_workspace);
  FIELD(sptile_workspace, data);
  FIELD(sptile_workspace, bytes);
  return 0;
}
