/* The C interface of libsptile: open a bundle, plan a product, run it many times.
 *
 * Everything that can fail returns sptile_status; sptile_last_error() then says what was wrong and what would
 * be right. Handles are opaque. No function keeps a pointer to an option struct or a string after it returns;
 * matrix arrays given to sptile_plan_spmm_csr are borrowed until the plan is destroyed. NULL handles are
 * answered with SPTILE_USAGE, and closing or destroying NULL does nothing.
 *
 * Thread safety: bundles and plans are immutable. Any number of threads may use one at the same time, each
 * with its own C; only sptile_plan_refresh and sptile_plan_refresh_packed need a plan for themselves.
 *
 * Fork: a process forked after the library was loaded may use everything for the CPU, handles of its parent
 * too, with the same bits, but on one thread: those of OpenMP stay with the parent. A CUDA plan of the parent
 * is answered with SPTILE_DEVICE; CUDA itself works in the child only if the parent has not used it. A
 * process started afresh (exec, spawn) has no such limits.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* What happened; the same numbers are the exit codes of the sptile command. */
typedef enum sptile_status {
  SPTILE_OK = 0,
  SPTILE_USAGE = 2,        /* the call makes no sense: NULL, a negative size, mismatched shapes */
  SPTILE_BAD_INPUT = 3,    /* a file or an array breaks its format */
  SPTILE_UNSUPPORTED = 4,  /* well-formed, but this build or machine cannot run it */
  SPTILE_IO = 5,           /* the system refused: no such file, out of memory */
  SPTILE_DEVICE = 6,       /* an accelerator is missing or failed */
  SPTILE_CHECK_FAILED = 7, /* a verification found different numbers */
  SPTILE_INTERNAL = 70     /* a bug in sptile */
} sptile_status;

/* Element types, numbered as in bundles. */
typedef enum sptile_dtype {
  SPTILE_NONE = 0, /* values of a pattern matrix: nothing stored, every entry is 1 */
  SPTILE_F16 = 6,
  SPTILE_BF16 = 7,
  SPTILE_F32 = 8,
  SPTILE_F64 = 9
} sptile_dtype;

typedef enum sptile_device { SPTILE_CPU = 0, SPTILE_CUDA = 1 } sptile_device;

/* What NaN and infinity in B may do. On the CPU both give IEEE results exactly: stored zeros are never
 * multiplied. */
typedef enum sptile_nonfinite { SPTILE_NONFINITE_FAST = 0, SPTILE_NONFINITE_STRICT = 1 } sptile_nonfinite;

/* How products are formed; sums are f32 or wider. It concerns f32 operands: 16-bit ones always have exact
 * products, f64 ones f64 products. */
typedef enum sptile_precision {
  SPTILE_PRECISION_DEFAULT = 0, /* of the kernel: tf32 on tensor cores, else fp32 */
  SPTILE_FP32 = 1,
  SPTILE_TF32 = 2,
  SPTILE_FP16 = 3,
  SPTILE_PRECISION_BF16 = 4,
  SPTILE_FP64 = 5
} sptile_precision;

/* How a plan of several formats chooses one: by the cost model, or by running each that is worth it on
 * operands of its own. */
typedef enum sptile_choice { SPTILE_CHOICE_PREDICTED = 0, SPTILE_CHOICE_MEASURED = 1 } sptile_choice;

typedef struct sptile_bundle sptile_bundle;
typedef struct sptile_plan sptile_plan;

/* Version of this interface. Within one version functions and options are only added. */
int sptile_abi_version(void);

/* Version of the library: "0.1.0". */
const char* sptile_version(void);

/* Message of the last call on this thread that did not return SPTILE_OK; "" before the first. Valid until the
 * next failing call on the same thread. */
const char* sptile_last_error(void);

/* ---- Bundles
 * -------------------------------------------------------------------------------------------------- */

/* Opens a bundle by mapping it; with copy != 0 it is read into memory instead, for folders that others can
 * write. Checks everything but the data, at a cost that does not grow with the file. *bundle is NULL after a
 * failure. */
sptile_status sptile_bundle_open(const char* path, int copy, sptile_bundle** bundle);

/* Closes; plans made from the bundle keep what they need and stay valid. */
void sptile_bundle_close(sptile_bundle* bundle);

/* Rows, columns and entries of the matrix. Any of the three pointers may be NULL. */
sptile_status sptile_bundle_shape(const sptile_bundle* bundle, int64_t* rows, int64_t* cols, int64_t* nnz);

/* Element type of the source values (SPTILE_F32, SPTILE_F64, or SPTILE_NONE for a pattern). */
sptile_status sptile_bundle_dtype(const sptile_bundle* bundle, sptile_dtype* dtype);

/* Number of formats in the bundle, "csr" included. */
sptile_status sptile_bundle_format_count(const sptile_bundle* bundle, int* count);

/* Name of format `index`, for example "bittcf"; valid as long as the library is loaded. */
sptile_status sptile_bundle_format_name(const sptile_bundle* bundle, int index, const char** name);

/* ---- Plans
 * ---------------------------------------------------------------------------------------------------- */

/* Options of a plan. Start with sptile_spmm_options_init, which fills in the defaults and `size`: that is how
 * a library knows the fields of older and newer callers. */
typedef struct sptile_spmm_options {
  size_t size;         /* sizeof(sptile_spmm_options), set by sptile_spmm_options_init */
  int64_t n;           /* columns of B and C; must be set, >= 1 */
  int32_t dense;       /* sptile_dtype of B and C; SPTILE_F32 */
  int32_t device;      /* sptile_device; SPTILE_CPU */
  int32_t threads;     /* 0: all that OpenMP gives; one is used in a forked process, whatever stands here */
  int32_t trusted;     /* != 0: skip the one-pass check of the arrays; 0 */
  int32_t refreshable; /* != 0: keep a copy of the values so that sptile_plan_refresh works; 0 */
  int32_t nonfinite;   /* sptile_nonfinite; SPTILE_NONFINITE_FAST */
  const char* kernel;  /* name of a kernel to force, for example "cpu.csr.avx2"; NULL: the best one */
  int32_t precision;   /* sptile_precision: the least exact products that will do; SPTILE_PRECISION_DEFAULT */
  int32_t ordinal;     /* which CUDA device; 0 */
  int32_t choice;      /* sptile_choice, for plans of a bundle; SPTILE_CHOICE_PREDICTED */
  int32_t reserved;    /* 0 */
} sptile_spmm_options;

/* The same options serve both operations; for SDDMM n is the columns of X and Y, and dense the type of X, Y
 * and the result. */
typedef sptile_spmm_options sptile_plan_options;

/* Fills in the defaults. `size` is sizeof(sptile_spmm_options) as the caller was compiled. */
sptile_status sptile_spmm_options_init(sptile_spmm_options* options, size_t size);

/* Plans C = alpha A B + beta C for a format of a bundle ("csr", "bittcf", ...). C has the original row order.
 * NULL or "auto" chooses among all formats of the bundle the one predicted to be fastest, several names with
 * commas among those; see sptile_predict_spmm and sptile_plan_format. With options->choice =
 * SPTILE_CHOICE_MEASURED it plans each format and kernel that can run (but those predicted to take more than
 * 3 times the best, where all have predictions), runs it on random operands, which are there while it plans,
 * and takes the fastest; on a CUDA device it does so on the default stream, and needs device memory for these
 * operands: SPTILE_DEVICE names the bytes when there is no room. */
sptile_status sptile_plan_spmm(const sptile_bundle* bundle, const char* format,
                               const sptile_spmm_options* options, sptile_plan** plan);

/* One way to do a product. */
typedef struct sptile_prediction {
  const char* format;  /* valid as long as the library is loaded, as is the next */
  const char* kernel;  /* NULL: the device has none for the format */
  double microseconds; /* predicted; negative: there is no model for the kernel */
  int32_t precision;   /* sptile_precision of the products */
  int32_t usable;      /* 0: no kernel for these types or this precision */
  int32_t chosen;      /* != 0: what sptile_plan_spmm takes */
  int32_t reserved;
} sptile_prediction;

/* Predicts what the formats of a bundle would take: the list that sptile_plan_spmm chooses from, with the
 * same `formats` (NULL, "auto" or names with commas). Fills in at most `capacity` elements, each
 * `element_size` = sizeof(sptile_prediction) bytes, and gives their full number in *count; predictions may be
 * NULL when capacity is 0. Without a model of the device csr is chosen. SPTILE_PROFILE=FILE in the
 * environment replaces the constants of the model ('sptile calibrate' makes such files). */
sptile_status sptile_predict_spmm(const sptile_bundle* bundle, const char* formats,
                                  const sptile_spmm_options* options, sptile_prediction* predictions,
                                  size_t element_size, int capacity, int* count);

/* Plans for a CSR matrix in memory. row_ptr has rows + 1 elements, col_idx row_ptr[rows] of them, strictly
 * increasing within each row; values as many, of type value_dtype (NULL and SPTILE_NONE for a pattern). The
 * arrays are borrowed: keep them, unchanged, until the plan is destroyed. A plan for a CUDA device has its
 * own copy, so that they may go as soon as this returns. */
sptile_status sptile_plan_spmm_csr(int64_t rows, int64_t cols, const int64_t* row_ptr, const int32_t* col_idx,
                                   const void* values, sptile_dtype value_dtype,
                                   const sptile_spmm_options* options, sptile_plan** plan);

/* Plans C = alpha A B + beta C for a CSR matrix in the memory of CUDA device options->ordinal, for example of
 * a framework that has no bundle. It is converted to `format` ("csr", "bittcf", ...) on the device, with the
 * same result as sptile convert; libra_spmm and libra_sddmm with a threshold of the device's profile, where
 * it has one (SPTILE_PROFILE, see sptile_predict_spmm). row_ptr has rows + 1 elements, col_idx and values
 * nnz; they are checked there, and may go as soon as this returns. What writes them must be done, or be on
 * the default stream. options->device must be SPTILE_CUDA. At most 2^32 - 1 entries; up to 100 bytes per
 * entry of device memory are needed while it runs. */
sptile_status sptile_plan_from_device_csr(int64_t rows, int64_t cols, int64_t nnz, const int64_t* row_ptr,
                                          const int32_t* col_idx, const void* values,
                                          sptile_dtype value_dtype, const char* format,
                                          const sptile_spmm_options* options, sptile_plan** plan);

void sptile_plan_destroy(sptile_plan* plan);

/* Rows and columns of the matrix and columns of the dense operands. Any of the three pointers may be NULL. */
sptile_status sptile_plan_shape(const sptile_plan* plan, int64_t* rows, int64_t* cols, int64_t* n);

/* Element type of the dense operands. */
sptile_status sptile_plan_dense(const sptile_plan* plan, sptile_dtype* dense);

/* Name of the kernel that the plan runs, for example "cpu.bittcf.avx512"; valid as long as the library is
 * loaded. */
sptile_status sptile_plan_kernel(const sptile_plan* plan, const char** name);

/* Name of the format that the plan multiplies with, for example "bittcf"; valid as long as the library is
 * loaded. */
sptile_status sptile_plan_format(const sptile_plan* plan, const char** name);

/* How the plan forms products. */
sptile_status sptile_plan_precision(const sptile_plan* plan, sptile_precision* precision);

/* Bytes of device memory that one run needs beside its operands; 0 on the CPU. */
sptile_status sptile_plan_workspace(const sptile_plan* plan, size_t* bytes);

/* Replaces the values of a plan made refreshable. `values` has one element per entry of the source CSR
 * matrix, in its order, and value_dtype must be the type that the planned format stores. Not concurrent with
 * sptile_spmm. */
sptile_status sptile_plan_refresh(sptile_plan* plan, const void* values, sptile_dtype value_dtype,
                                  int64_t count);

/* ---- Running
 * -------------------------------------------------------------------------------------------------- */

/* C = alpha A B + beta C. B is cols x n and C rows x n, row-major, of the planned dense type; ldb and ldc are
 * the elements between rows, >= n. With beta = 0 the old contents of C do not matter. B and C must not
 * overlap. Allocates nothing; the same bits for any number of threads. */
sptile_status sptile_spmm(const sptile_plan* plan, double alpha, const void* b, int64_t ldb, double beta,
                          void* c, int64_t ldc);

/* The same on a CUDA device: B and C are device memory and `stream` is a cudaStream_t of the plan's device
 * (NULL: the default stream). Returns when the work is enqueued; nothing is allocated and nothing waits, so
 * that the call may be captured in a CUDA graph. Calls of one plan must follow each other on one stream. */
sptile_status sptile_spmm_stream(const sptile_plan* plan, double alpha, const void* b, int64_t ldb,
                                 double beta, void* c, int64_t ldc, void* stream);

/* The same for calls of one plan on several streams at a time: each has its own workspace, device memory of
 * sptile_plan_workspace bytes, zeroed before its first use and then left to these calls. */
sptile_status sptile_spmm_workspace(const sptile_plan* plan, double alpha, const void* b, int64_t ldb,
                                    double beta, void* c, int64_t ldc, void* workspace, void* stream);

/* The same with the size of the workspace: SPTILE_USAGE, and nothing is enqueued, when it is too small. */
sptile_status sptile_spmm_sized_workspace(const sptile_plan* plan, double alpha, const void* b, int64_t ldb,
                                          double beta, void* c, int64_t ldc, void* workspace,
                                          size_t workspace_size, void* stream);

/* ---- SDDMM: dot products of rows of X and Y, sampled where A has entries
 * -------------------------------------------------------------------------------------------------- */

/* Plans out = alpha (X Y^T at the entries of A) + beta out for a format of a bundle. X has the original row
 * order. NULL or "auto" and options->choice choose as sptile_plan_spmm does. */
sptile_status sptile_plan_sddmm(const sptile_bundle* bundle, const char* format,
                                const sptile_plan_options* options, sptile_plan** plan);

/* Plans for a CSR matrix in memory, as sptile_plan_spmm_csr. */
sptile_status sptile_plan_sddmm_csr(int64_t rows, int64_t cols, const int64_t* row_ptr,
                                    const int32_t* col_idx, const void* values, sptile_dtype value_dtype,
                                    const sptile_plan_options* options, sptile_plan** plan);

/* Plans for a CSR matrix in the memory of CUDA device options->ordinal, as sptile_plan_from_device_csr. Its
 * results go with sptile_plan_refresh_packed into a refreshable plan that sptile_plan_from_device_csr makes
 * of the same matrix with the same value_dtype and format. */
sptile_status sptile_plan_sddmm_from_device_csr(int64_t rows, int64_t cols, int64_t nnz,
                                                const int64_t* row_ptr, const int32_t* col_idx,
                                                const void* values, sptile_dtype value_dtype,
                                                const char* format, const sptile_plan_options* options,
                                                sptile_plan** plan);

/* Entries of the matrix: the elements of out. */
sptile_status sptile_plan_entries(const sptile_plan* plan, int64_t* entries);

/* For each entry (i, j) of A: out = alpha (row i of X . row j of Y) a_ij + beta out, without a_ij when scaled
 * is 0. X is rows x n and Y cols x n, row-major, of the planned dense type; ldx and ldy are the elements
 * between rows, >= n. out has one element per entry, in the order in which the planned format stores its
 * values: that of the CSR matrix for "csr", and for all formats what sptile_plan_refresh_packed takes. With
 * beta = 0 the old contents of out do not matter. out must not overlap X or Y. Allocates nothing; the same
 * bits for any number of threads. SPTILE_USAGE for a plan of sptile_plan_spmm. */
sptile_status sptile_sddmm(const sptile_plan* plan, double alpha, const void* x, int64_t ldx, const void* y,
                           int64_t ldy, double beta, void* out, int scaled);

/* The same on a CUDA device: all three are device memory and `stream` is a cudaStream_t of the plan's device
 * (NULL: the default stream). Returns when the work is enqueued; may be captured in a CUDA graph. Calls of
 * one plan may be on several streams at a time. */
sptile_status sptile_sddmm_stream(const sptile_plan* plan, double alpha, const void* x, int64_t ldx,
                                  const void* y, int64_t ldy, double beta, void* out, int scaled,
                                  void* stream);

/* Replaces the values of a plan of sptile_plan_spmm made refreshable by what sptile_sddmm wrote for the same
 * format of the same matrix. value_dtype must be the type that the planned format stores. For a plan for a
 * CUDA device `values` are device memory and the copy is enqueued on `stream`; a plan for the CPU takes NULL.
 * Not concurrent with sptile_spmm. */
sptile_status sptile_plan_refresh_packed(sptile_plan* plan, const void* values, sptile_dtype value_dtype,
                                         int64_t count, void* stream);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
