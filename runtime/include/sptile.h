/* The C interface of libsptile: create a matrix, plan operations with it, and run the plans many times.
 *
 * Structs begin with their size, which identifies the fields of the caller's version. Set it to sizeof, or
 * initialize the struct with its ..._INIT macro. In structs of options, 0 is the default of every field
 * unless stated otherwise.
 *
 * Functions that can fail return sptile_status. sptile_last_error() then states the cause and the remedy.
 * Handles are opaque. No function keeps a pointer to a struct or string after it returns. Arrays of a matrix
 * in host memory are borrowed, see sptile_matrix_create. NULL handles return SPTILE_STATUS_USAGE, and
 * destroying NULL has no effect.
 *
 * Thread safety: plans are immutable, and any number of threads may run one plan concurrently, each with its
 * own result. Any number of threads may create plans from one matrix. sptile_matrix_refresh needs exclusive
 * access.
 *
 * Fork: a process that was forked after the library was loaded may use everything on the CPU, including
 * handles of its parent. Its runs start their own threads and compute the same bits; planning uses one
 * thread, because OpenMP threads remain with the parent. A CUDA plan of the parent returns
 * SPTILE_STATUS_DEVICE. CUDA works in the child only if the parent has not used it. Processes started by exec
 * or spawn have no such limits.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Status codes, equal to the exit codes of the sptile command. */
typedef enum sptile_status {
  SPTILE_STATUS_OK = 0,
  SPTILE_STATUS_USAGE = 2,        /* invalid call: NULL, a negative size, mismatched shapes */
  SPTILE_STATUS_BAD_INPUT = 3,    /* a file or an array violates its format */
  SPTILE_STATUS_UNSUPPORTED = 4,  /* valid, but this build or machine cannot run it */
  SPTILE_STATUS_IO = 5,           /* system error: file not found, out of memory */
  SPTILE_STATUS_DEVICE = 6,       /* a device is missing or failed */
  SPTILE_STATUS_CHECK_FAILED = 7, /* a verification found different numbers */
  SPTILE_STATUS_INTERNAL = 70     /* a bug in sptile */
} sptile_status;

/* Element types, numbered as in bundles. */
typedef enum sptile_dtype {
  SPTILE_DTYPE_NONE = 0, /* a pattern: no values are stored, every entry is 1 */
  SPTILE_DTYPE_I32 = 2,  /* row and column indices in memory */
  SPTILE_DTYPE_I64 = 4,  /* row and column indices in memory */
  SPTILE_DTYPE_F16 = 6,
  SPTILE_DTYPE_BF16 = 7,
  SPTILE_DTYPE_F32 = 8,
  SPTILE_DTYPE_F64 = 9
} sptile_dtype;

/* Memory of arrays, and device of plans. */
typedef enum sptile_device { SPTILE_DEVICE_CPU = 0, SPTILE_DEVICE_CUDA = 1 } sptile_device;

/* Effect of NaN and infinity in dense operands. FAST: tile formats on CUDA may spread them within a window.
 * STRICT: as in IEEE arithmetic. On the CPU both are IEEE arithmetic, because stored zeros are not
 * multiplied.
 */
typedef enum sptile_nonfinite { SPTILE_NONFINITE_FAST = 0, SPTILE_NONFINITE_STRICT = 1 } sptile_nonfinite;

/* Precision of the products of f32 operands. Sums are f32 or wider. Products of 16-bit operands are exact,
 * and products of f64 operands are f64. */
typedef enum sptile_precision {
  SPTILE_PRECISION_DEFAULT = 0, /* tf32 on tensor cores, otherwise fp32 */
  SPTILE_PRECISION_FP32 = 1,
  SPTILE_PRECISION_TF32 = 2,
  SPTILE_PRECISION_FP16 = 3,
  SPTILE_PRECISION_BF16 = 4,
  SPTILE_PRECISION_FP64 = 5
} sptile_precision;

/* Choice of a plan among several formats: by the cost model, or by running the candidates on random
 * operands. */
typedef enum sptile_choice { SPTILE_CHOICE_PREDICTED = 0, SPTILE_CHOICE_MEASURED = 1 } sptile_choice;

/* Order of a result with one number per entry. */
typedef enum sptile_order {
  SPTILE_ORDER_PACKED = 0, /* as the format of the plan stores its values; the fastest */
  SPTILE_ORDER_CSR =
      1 /* by row, then by column. On a CUDA device, the numbers pass through the workspace,
           and the mapping comes from the bundle (--refreshable) or is computed on the device */
} sptile_order;

/* Function that is applied to sums before they are written. */
typedef enum sptile_activation { SPTILE_ACTIVATION_NONE = 0, SPTILE_ACTIVATION_RELU = 1 } sptile_activation;

/* Attention score of row x of X and row y of Y. */
typedef enum sptile_score {
  SPTILE_SCORE_DOT = 0,     /* x . y (transformers) */
  SPTILE_SCORE_COSINE = 1,  /* x . y / (|x| |y|) (AGNN) */
  SPTILE_SCORE_ADDITIVE = 2 /* leaky_relu(x + y) of one number each, n = 1 (GAT) */
} sptile_score;

/* A matrix and its formats. */
typedef struct sptile_matrix sptile_matrix;
/* A planned operation. Immutable. */
typedef struct sptile_plan sptile_plan;
/* One part of a partition. */
typedef struct sptile_part sptile_part;

/* Returns the version of this interface. Within one version, functions and fields are only added. */
int sptile_abi_version(void);

/* Returns the version of the library: "0.1.0". */
const char* sptile_version(void);

/* Returns the message of the last failed call on this thread, "" before the first. It is valid until the next
 * failing call on the same thread. */
const char* sptile_last_error(void);

/* Describes the library as JSON in UTF-8, in a string that is valid while the library is loaded: `operations`
 * with their `operands`; `attributes` with `kind`, `default`, range or `choices`, the operations that read
 * them, and whether they are given per plan or per run; `formats`; `kernels`. */
sptile_status sptile_describe(const char** json);

/* ---- Matrices ---- */

/* Options of a matrix. */
typedef struct sptile_matrix_options {
  size_t size;
  int32_t refreshable; /* != 0: formats own their values, as sptile_matrix_refresh requires */
  int32_t trusted;     /* != 0: skip the one-pass check of the arrays */
  int32_t copy; /* != 0: read a file into memory instead of mapping it (for directories that others can write
                   to); copy arrays in host or device memory instead of borrowing them */
  int32_t reserved;
  uint64_t most_device_bytes; /* limit for the formats of the matrix in device memory; 0: none */
  const char* matrix; /* name of a matrix in a bundle with several ("halo" of a part, see 'sptile partition');
                         NULL: the first one. Only for sptile_matrix_open */
} sptile_matrix_options;

#define SPTILE_MATRIX_OPTIONS_INIT \
  { sizeof(sptile_matrix_options), 0, 0, 0, 0, 0, NULL }

/* Content of the array `row` of a matrix in memory. */
typedef enum sptile_layout {
  SPTILE_LAYOUT_CSR = 0, /* rows + 1 row offsets */
  SPTILE_LAYOUT_COO = 1  /* the row of each entry */
} sptile_layout;

/* Treatment of entries that are not sorted by row and strictly ascending column. */
typedef enum sptile_disorder {
  SPTILE_DISORDER_REFUSE = 0, /* SPTILE_STATUS_BAD_INPUT with the position */
  SPTILE_DISORDER_SORT = 1,   /* entries are sorted; repeated ones are refused */
  SPTILE_DISORDER_SUM = 2     /* entries are sorted, and repeated ones are added */
} sptile_disorder;

/* Arrays of a matrix in memory. */
typedef struct sptile_arrays {
  size_t size;
  int64_t rows, cols, nnz;
  const void* row;     /* see sptile_layout */
  const void* col;     /* the column of each entry */
  const void* values;  /* NULL: a pattern, where every entry is 1 */
  int32_t value_dtype; /* sptile_dtype; SPTILE_DTYPE_NONE for a pattern */
  int32_t layout;      /* sptile_layout; SPTILE_LAYOUT_CSR in host memory */
  int32_t row_dtype;   /* SPTILE_DTYPE_I32 or SPTILE_DTYPE_I64; 0: I64 for SPTILE_LAYOUT_CSR, I32 for
                          SPTILE_LAYOUT_COO. 0 in host memory */
  int32_t col_dtype;   /* SPTILE_DTYPE_I32 or SPTILE_DTYPE_I64; 0: I32. 0 in host memory */
  int32_t disorder;    /* sptile_disorder; SPTILE_DISORDER_REFUSE in host memory */
  int32_t device;      /* sptile_device that contains all three arrays */
  int32_t ordinal;     /* CUDA device number */
  int32_t reserved;
} sptile_arrays;

#define SPTILE_ARRAYS_INIT \
  { sizeof(sptile_arrays), 0, 0, 0, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0 }

/* Arrangement of the matrices of a batch. */
typedef enum sptile_arrangement {
  SPTILE_ARRANGEMENT_BLOCK_DIAGONAL = 0, /* on the diagonal; the operands are concatenated */
  SPTILE_ARRANGEMENT_STACKED =
      1 /* rows are concatenated; all have the same columns and are multiplied by one B */
} sptile_arrangement;

/* Maps a bundle ('sptile convert' writes them) and checks everything except the data, at a cost that does not
 * depend on its size. `options` may be NULL for the defaults, here and below. After a failure, *matrix is
 * NULL. */
sptile_status sptile_matrix_open(const char* path, const sptile_matrix_options* options,
                                 sptile_matrix** matrix);

/* Creates a matrix from arrays. They are borrowed: keep them unchanged until the matrix and all its plans are
 * destroyed. With options->copy they may be freed when this returns. Arrays in device memory are checked on
 * `stream`, a cudaStream_t of their device (NULL: the default stream), and the call waits for the result.
 * Unless they are sorted CSR with SPTILE_DTYPE_I64 offsets and SPTILE_DTYPE_I32 columns, they are copied.
 * Arrays in host memory are checked when a plan is created; `stream` is NULL. */
sptile_status sptile_matrix_create(const sptile_arrays* arrays, const sptile_matrix_options* options,
                                   void* stream, sptile_matrix** matrix);

/* Joins `count` >= 1 CSR matrices into one, so that one run multiplies all of them. This is faster than
 * separate runs if the matrices are small. Rows, columns (unless SPTILE_ARRANGEMENT_STACKED), entries and new
 * values are concatenated.
 *
 * `parts` is an array of structs of equal size, with arrays as for sptile_matrix_create. All arrays are in
 * the same memory and have the same value type and `disorder`. They are checked and copied (on their device)
 * and may be freed when this returns. Sizes may be 0. Errors name the matrix, counted from 0.
 * SPTILE_STATUS_UNSUPPORTED if the result has more than 2^31 - 1 rows or columns. */
sptile_status sptile_matrix_create_batch(const sptile_arrays* parts, int64_t count, int32_t arrangement,
                                         const sptile_matrix_options* options, void* stream,
                                         sptile_matrix** matrix);

/* Creates another matrix over the same data with other options. No file is opened and no array is copied, so
 * the data is that of `matrix` even if its file was replaced or deleted. Values set by sptile_matrix_refresh
 * are not shared. `copy` and `matrix` of the options must be 0. Borrowed arrays are borrowed by both. */
sptile_status sptile_matrix_share(const sptile_matrix* matrix, const sptile_matrix_options* options,
                                  sptile_matrix** other);

/* Destroys a matrix. Its plans remain valid. */
void sptile_matrix_destroy(sptile_matrix* matrix);

/* Properties of a matrix. */
typedef struct sptile_matrix_info {
  size_t size;
  int64_t rows, cols, nnz;
  int32_t value_dtype;   /* sptile_dtype of the source values; SPTILE_DTYPE_NONE for a pattern */
  int32_t format_count;  /* number of stored formats, see sptile_matrix_format */
  int32_t symmetric;     /* 1: equals its transpose, 0: does not, -1: unknown */
  int32_t transposed;    /* number of stored formats of the transpose; a symmetric matrix counts its own */
  uint64_t host_bytes;   /* host memory in use, excluding mapped files and borrowed arrays */
  uint64_t device_bytes; /* device memory in use by formats, on all devices */
  uint64_t content;      /* hash of the arrays of a bundle, excluding stored plans; 0: not a bundle */
} sptile_matrix_info;

/* Describes a matrix. Set info->size before the call. */
sptile_status sptile_matrix_describe(const sptile_matrix* matrix, sptile_matrix_info* info);

/* Returns the name of stored format `index`, for example "bittcf". It is valid while the library is loaded.
 */
sptile_status sptile_matrix_format(const sptile_matrix* matrix, int index, const char** name);

/* Returns the CSR arrays of a matrix in the original row order, with SPTILE_DTYPE_I64 offsets and
 * SPTILE_DTYPE_I32 columns. They belong to the matrix, are read-only, are valid until it is destroyed, and do
 * not contain values set by sptile_matrix_refresh. Set arrays->size before the call. Arrays in host memory
 * are checked in one pass unless the matrix is trusted. */
sptile_status sptile_matrix_arrays(const sptile_matrix* matrix, sptile_arrays* arrays);

/* Mapping from the entries of arrays in device memory, as given, to those of the CSR arrays. */
typedef struct sptile_given {
  size_t size;
  int64_t count;           /* number of given entries: the number of values of sptile_matrix_refresh */
  const int64_t* position; /* [count] given entries in CSR order; NULL: they were in CSR order */
  const int64_t* first;    /* [nnz + 1] CSR entry i is the sum of the given entries position[first[i]] to
                              position[first[i + 1] - 1]; NULL: there is one of each */
  int32_t device;          /* sptile_device that contains both lists */
  int32_t ordinal;
} sptile_given;

/* Returns the order of the given entries, which converts lists in SPTILE_ORDER_CSR to the order of the given
 * entries. The lists belong to the matrix, are read-only and are valid until it is destroyed. Set given->size
 * before the call. */
sptile_status sptile_matrix_given(const sptile_matrix* matrix, sptile_given* given);

/* New values of a matrix. */
typedef struct sptile_values {
  size_t size;
  const void* data;         /* in host memory, or in the memory of the device that uses the matrix */
  int64_t count;            /* number of entries of the matrix, as given */
  const sptile_plan* order; /* NULL: the order of the source: CSR order, or the order of the given entries of
                               arrays in device memory. A plan of the matrix: the packed order of its format,
                               in which "sddmm" writes its result */
  int32_t value_dtype;      /* the type of the formats in use */
  int32_t reserved;
} sptile_values;

/* Replaces the values of a refreshable matrix in all formats, and thus for all plans. Values in device memory
 * are moved on `stream` (a cudaStream_t; NULL: the default stream) without synchronization. Values in host
 * memory are in place when this returns. No plan may run during the call. */
sptile_status sptile_matrix_refresh(sptile_matrix* matrix, const sptile_values* values, void* stream);

/* ---- Parts of a partition ---- */

/* Maps one part of a partition ('sptile partition' writes them) and checks its lists: lengths, ranges,
 * ascending offsets and rows. sptile_part_matrix returns its matrices. Of the options only `copy` may be set;
 * they may be NULL. After a failure, *part is NULL. SPTILE_STATUS_BAD_INPUT also for a bundle that is not a
 * part. */
sptile_status sptile_part_open(const char* path, const sptile_matrix_options* options, sptile_part** part);

/* Destroys a part. Its matrices remain valid. */
void sptile_part_destroy(sptile_part* part);

/* Creates a matrix of an open part: `local` if `name` is NULL, or "halo". The file is not opened again.
 * `copy` and `matrix` of the options must be 0. */
sptile_status sptile_part_matrix(const sptile_part* part, const char* name,
                                 const sptile_matrix_options* options, sptile_matrix** matrix);

/* Joins all parts in a directory of 'sptile partition' into the entire matrix, in its original row order, and
 * copies them. `part` is one of them, the others are opened. SPTILE_STATUS_BAD_INPUT, which names the file or
 * the row, unless all belong to one partition and each row has one owner; SPTILE_STATUS_DEVICE without
 * memory. */
sptile_status sptile_part_whole(const sptile_part* part, const char* folder, sptile_matrix** matrix);

/* Lists for the exchange. C = local B + halo R, where R contains the rows of B that other parts own, in the
 * order of the senders: the `send_rows` of part q for p are the rows from receive_offset[q] of R on p. */
typedef struct sptile_part_info {
  size_t size;
  uint64_t id;                   /* id of the partition, equal in all its parts */
  int64_t rank, parts;           /* index of this part, from 0; number of parts */
  int64_t rows, entries;         /* sizes of the entire matrix, which is square */
  int64_t owned, needed;         /* rows of this part; rows of others that it needs: columns of halo */
  int64_t interior;              /* rows before the first one with entries in halo; only later rows need R */
  const int32_t* old_ids;        /* [owned] row of the entire matrix of each row; arrays belong to the part */
  const int32_t* halo_ids;       /* [needed] row of the entire matrix of each column of halo */
  const int64_t* send_offset;    /* [parts + 1] first row for each part in send_rows */
  const int64_t* receive_offset; /* [parts + 1] first row of each part in R */
  const int32_t* send_rows;      /* [send_offset[parts]] rows of this part, ascending for each receiver */
  int32_t symmetric;             /* != 0: the entire matrix equals its transpose */
  int32_t reserved;
} sptile_part_info;

/* Describes a part. Set info->size before the call. */
sptile_status sptile_part_describe(const sptile_part* part, sptile_part_info* info);

/* ---- Plans ---- */

/* An attribute of a plan or of a run. sptile_describe lists them: "heads", "m", "activation", "score",
 * "transposed_weights", "precision", "nonfinite", "order", "choice" and "replan" for plans, "scaled" and
 * "slope" for runs. Attributes that are not given have their defaults. SPTILE_STATUS_USAGE for an unknown or
 * repeated name, or a value out of range. */
typedef struct sptile_attribute {
  const char* name;
  double value; /* a number, an enumerator (SPTILE_SCORE_COSINE), or 0 or 1 for a flag */
} sptile_attribute;

/* Options of a plan. */
typedef struct sptile_plan_options {
  size_t size;
  int64_t n;          /* maximum number of columns of the dense operands; must be set, >= 1 */
  const char* format; /* name of a format, or a comma-separated list of candidates; NULL or "auto": all stored
                         formats. On a CUDA device, a format that is not stored is converted from the CSR
                         arrays, with the same result as 'sptile convert'; a list of such formats requires
                         SPTILE_CHOICE_MEASURED. "any": like "auto", but SPTILE_CHOICE_MEASURED on a CUDA
                         device also tries the formats to which conversion usually pays, unless the bundle
                         stores a plan for these options */
  const char* kernel; /* name of a kernel to force, for example "cpu.csr.avx2"; NULL: the best one */
  void* stream;       /* cudaStream_t that converts arrays in device memory; NULL: the default stream */
  const sptile_attribute* attributes; /* [attribute_count] attributes of plans; NULL if there are none */
  int32_t attribute_count;
  int32_t transpose; /* != 0: use A^T instead of A; not for "sddmm" */
  int32_t dense;     /* sptile_dtype of the dense operands; SPTILE_DTYPE_NONE: f32 */
  int32_t result;    /* sptile_dtype of the result, which beta also scales in this type: SPTILE_DTYPE_F32 if
                        `dense` has 16 bits; SPTILE_DTYPE_NONE: the type of the operands */
  int32_t device;    /* sptile_device */
  int32_t ordinal;   /* CUDA device number */
  int32_t threads; /* maximum number of CPU threads of a run. 0: SPTILE_THREADS if set, otherwise the minimum
                      of OpenMP's threads, the available processors and the CPU quota of the control group */
  int32_t reserved;
} sptile_plan_options;

#define SPTILE_PLAN_OPTIONS_INIT \
  { sizeof(sptile_plan_options), 0, NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0 }

/* Plans an operation:
 *
 * - "spmm": C = alpha A B + beta C. Operands: B (cols x n) and C (rows x n).
 * - "sddmm": out = alpha (X Y^T at the entries of A) + beta out. Operands: X (rows x n), Y (cols x n) and
 * out, one number per entry, see sptile_order. If "scaled", each dot product is multiplied by the value of
 * its entry.
 * - "attention": out = softmax of the rows of (alpha sptile_score + bias) times V. Operands: X (rows x n),
 *   Y (cols x n), V (cols x m), bias (one number per entry, or NULL), statistics (rows x 2, or NULL) and
 *   out (rows x m). Gradients: "attention_gradient" and, for a plan of the transpose, "attention_gradient_t".
 * - "softmax_rows": P = softmax of the rows of alpha S. Operands: S and P, one number per entry. Gradient:
 *   "softmax_rows_gradient".
 * - "gatv2": out = softmax of the rows of (alpha a . leaky_relu(x_i + y_j + e_ij) + bias), times factors and
 *   Y. Operands: X (rows x n), Y (cols x n), a (1 x n), bias (one number per entry, or NULL), statistics
 *   (rows x 2, or NULL), factors (one number per entry, or NULL), edges (entries x n, or NULL) and out
 *   (rows x n). Gradients: "gatv2_gradient" and, for a plan of the transpose, "gatv2_gradient_t".
 * - "edge_attention": out = P V and out_edges = P E, where P is the softmax of the rows of
 *   alpha (x_i . y_j + q_i . e_ij), times factors. Operands: X (rows x n), Y and V (cols x n), factors (one
 *   number per entry, or NULL), statistics (rows x 2, or NULL), edges (entries x m, the rows e_ij), X_edges
 *   (rows x m, the rows q_i), out_edges (rows x m) and out (rows x n). Gradient: "edge_attention_gradient".
 * - "gatv2_edges": "gatv2" with e_ij = W f_ij, where all heads share f. Operands: X, Y, a, bias, statistics,
 *   factors, features f (entries x m, m at most 16), W (n x m) and out. Gradients: "gatv2_edges_gradient",
 * for a plan of the transpose "gatv2_edges_gradient_t", and "gatv2_edges_weights" for W.
 * - "spmm_max", "spmm_min": C = alpha times the maximum or minimum of A_ij B_j over the entries of a row, 0
 *   for a row without entries. Operands: B (cols x n), arg (int32, rows x n, or NULL) and C (rows x n). arg
 *   receives the column of the entry that gave the result: the first of equal ones, -1 for a row without
 *   entries. The first NaN is larger and smaller than all numbers.
 * - "spmm_max_gradient": dvalues at (i, j) = alpha times the sum of G[i, f] B[j, f] over f with
 *   arg[i, f] = j, the gradient of the values. Operands: G (rows x n), arg, B and dvalues, one number per
 *   entry.
 * - "spmm_max_gradient_t", for a plan of the transpose: dB = alpha A^T G over the entries that arg names.
 *   Operands: G and arg (rows x n of A) and dB (cols x n of A).
 * - "spmm_update": C = sptile_activation of (alpha (A B) W + bias). Operands: B (cols x n), W (n x m), bias
 *   (m numbers, or NULL), Z (rows x n, receives A B, or NULL) and C (rows x m). Gradient of W and bias:
 *   "update_gradient".
 * - "layer_gradient": dX = alpha (A G) W^T and dW = alpha X^T (A G), the gradient of a layer A^T (X W).
 *   Operands: G (cols x m), X (rows x n), W (n x m), dX (rows x n) and dW (n x m).
 *
 * Rows are in the original order. Of several formats, the one with the lowest predicted time is used, see
 * sptile_predict. With SPTILE_CHOICE_MEASURED, each candidate is planned and run on random operands, and the
 * fastest is used. Candidates run in the order of their predictions until the time of the attribute "budget"
 * is used up; at least one runs. Candidates that are predicted to take more than 3 times as long as the best
 * are skipped. On a CUDA device this uses the default stream and needs memory for the operands;
 * SPTILE_STATUS_DEVICE reports the required bytes. The result is kept in the directory of the environment
 * variable SPTILE_CACHE, by default ~/.cache/sptile ("off": nowhere), and later plans of the same matrix on a
 * device of this name use it unless "replan" is set.
 *
 * A plan supports runs with 1 to n columns. A plan that 'sptile plan' stored in the bundle is used if
 * operation, formats, n, types, precision and device match. It is verified first; SPTILE_STATUS_BAD_INPUT if
 * it does not belong to the matrix.
 *
 * The first plan that needs a format checks, converts and uploads it. Formats are shared by all plans of the
 * matrix and are freed with the last of them. Converting arrays in device memory needs up to 100 bytes per
 * entry. */
sptile_status sptile_plan_create(sptile_matrix* matrix, const char* operation,
                                 const sptile_plan_options* options, sptile_plan** plan);

/* Destroys a plan. */
void sptile_plan_destroy(sptile_plan* plan);

/* Properties of a plan. */
typedef struct sptile_plan_info {
  size_t size;
  const char* operation; /* the three strings are valid while the library is loaded */
  const char* format;    /* for example "bittcf" */
  const char* kernel;    /* for example "cuda.bittcf.mma" */
  int64_t rows, cols, entries, n;
  int64_t least_n;          /* for fewer columns, a new plan may be faster; 1 on the CPU */
  uint64_t workspace_bytes; /* device memory of one run in addition to its operands; 0 on the CPU */
  int32_t dense;            /* sptile_dtype of the dense operands */
  int32_t result;           /* sptile_dtype of the result */
  int32_t precision;        /* sptile_precision of the products */
  int32_t device, ordinal;
  int32_t order;  /* sptile_order */
  int32_t stored; /* != 0: the plan was stored in the bundle */
  int32_t values; /* sptile_dtype of the values of the format and of the values of a run, which may have fewer
                     bits than the source. SPTILE_DTYPE_NONE for a pattern */
} sptile_plan_info;

/* Describes a plan. Set info->size before the call. */
sptile_status sptile_plan_describe(const sptile_plan* plan, sptile_plan_info* info);

/* Predicted time of a format and kernel. */
typedef struct sptile_prediction {
  const char* format;  /* both strings are valid while the library is loaded */
  const char* kernel;  /* NULL: the device has no kernel for the format */
  double microseconds; /* negative: the model has no constants for the kernel */
  int32_t precision;   /* sptile_precision of the products */
  int32_t usable;      /* 0: no kernel for these types or this precision */
  int32_t chosen;      /* != 0: sptile_plan_create would use it */
  int32_t reserved;
} sptile_prediction;

/* Predicts the times of the stored formats: the candidates of sptile_plan_create with the same operation and
 * options. Writes at most `capacity` elements of `element_size` = sizeof(sptile_prediction) bytes, and their
 * total number to *count. `predictions` may be NULL if capacity is 0. Without a profile of the device, csr is
 * chosen. The environment variable SPTILE_PROFILE=FILE selects another profile ('sptile calibrate' writes
 * them). */
sptile_status sptile_predict(const sptile_matrix* matrix, const char* operation,
                             const sptile_plan_options* options, sptile_prediction* predictions,
                             size_t element_size, int capacity, int* count);

/* ---- Running ---- */

/* A dense operand: row-major, of the planned type. Only results, the last operands, are written.
 *
 * In a run of several heads, `data` points to the first head, and each following head is `batch` elements
 * further: one matrix after another (batch >= rows * ld), or interleaved in rows (batch >= columns, ld >=
 * heads * batch). Heads of results must not overlap in any other way. Heads of operands that are only read
 * may overlap. */
typedef struct sptile_operand {
  void* data;
  int64_t ld;    /* elements between rows, >= columns; 0: columns. Ignored for lists */
  int64_t batch; /* elements between heads, >= 0. 0: one after another without gaps; for operands that heads
                    may share (weights, edges of "edge_attention"), all heads use the same */
} sptile_operand;

#define SPTILE_MAX_OPERANDS 10 /* in sptile_operands.dense */
#define SPTILE_MORE_OPERANDS 6 /* in sptile_operands.more */

/* Operands of one run. Initialize with SPTILE_OPERANDS_INIT, which sets alpha to 1.
 *
 * `values` replaces the values of the matrix in this run, if its data is not NULL. It has the type of the
 * matrix, is in the memory of the plan's device, and has one number per entry in the packed order of the
 * format, in which "sddmm" with this format writes its result. With batch = 0, all heads share it. A pattern
 * has no values to replace. On a CUDA device, 16-byte alignment is fastest. */
typedef struct sptile_operands {
  size_t size;
  double alpha;
  double beta;                               /* 0: the previous contents of the result are not read */
  int64_t n;                                 /* columns of this run, at most as planned; 0: as planned */
  sptile_operand dense[SPTILE_MAX_OPERANDS]; /* in the order of the operation, see sptile_plan_create */
  sptile_operand values;
  const sptile_attribute* attributes; /* [attribute_count] attributes of runs; NULL if there are none */
  int32_t attribute_count;
  int32_t reserved;
  sptile_operand more[SPTILE_MORE_OPERANDS]; /* continue `dense` */
} sptile_operands;

#define SPTILE_OPERANDS_INIT                                                      \
  {                                                                               \
    sizeof(sptile_operands), 1, 0, 0, {{NULL, 0, 0}}, {NULL, 0, 0}, NULL, 0, 0, { \
      { NULL, 0, 0 }                                                              \
    }                                                                             \
  }

/* Device memory for concurrent runs of one plan on several streams. Each needs its own workspace of
 * workspace_bytes, zero-initialized before its first use and used for runs of this plan only. */
typedef struct sptile_workspace {
  void* data;
  size_t bytes;
} sptile_workspace;

/* Runs a plan. Allocates nothing. The result does not depend on the number of threads and must not overlap
 * other operands. On a CUDA device, all operands are device memory, and `stream` is a cudaStream_t of the
 * plan's device (NULL: the default stream). The work is enqueued without synchronization and may be captured
 * in a CUDA graph. `workspace` may be NULL if runs of the plan follow each other on one stream. On the CPU
 * both are NULL. */
sptile_status sptile_run(const sptile_plan* plan, const sptile_operands* operands, void* stream,
                         const sptile_workspace* workspace);

/* ---- Exchange of rows between devices ---- */

/* A device that an exchange sends rows to or receives rows from. `rows` and `signal` are in the memory of the
 * peer, which this device maps; `answer` is in the memory of this device. Of two devices, the signal of each
 * is the answer of the other; both words are 0 at first. */
typedef struct sptile_peer {
  void* rows;          /* place of the rows from this device, without gaps; aligned as row_bytes, up to 16 */
  uint64_t* signal;    /* written by this device only */
  uint64_t* answer;    /* written by the peer only */
  int64_t first, last; /* rows to send: elements first to last - 1 of sptile_row_exchange.rows */
} sptile_peer;

/* Arguments of an exchange. Initialize with SPTILE_ROW_EXCHANGE_INIT. */
typedef struct sptile_row_exchange {
  size_t size;
  const sptile_peer* peers; /* [peer_count] in device memory, the same in all exchanges with one state */
  const int64_t* rows;      /* [row_count] in device memory: rows of the source; NULL: 0 to row_count - 1 */
  const void* source;       /* device memory; NULL if row_count is 0 */
  uint64_t* state;          /* [4] in device memory, 0 at first and then left alone */
  int32_t* fault;           /* memory that device and host map, 0 at first; see sptile_exchange_rows */
  int64_t row_count;
  int64_t row_bytes;    /* a multiple of 2 */
  int64_t stride_bytes; /* between rows of the source, a multiple of 2 */
  uint64_t timeout_ns;  /* a device that has not answered by then is a fault */
  int32_t peer_count;
  int32_t ordinal; /* CUDA device number */
  int32_t blocks;  /* maximum number of thread blocks; 0: a number that fills the links */
  int32_t stop;    /* != 0: send no rows, but make the running and all later exchanges of the peers fail */
} sptile_row_exchange;

#define SPTILE_ROW_EXCHANGE_INIT \
  { sizeof(sptile_row_exchange), NULL, NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0 }

/* Enqueues an exchange of rows with other devices on a stream (NULL: the default stream), which may be
 * captured in a CUDA graph. All devices make the same sequence of exchanges, and each is a peer of its peers,
 * even if it sends them nothing. The exchange ends when all rows from the peers have arrived. Work that reads
 * them must precede the next exchange in the stream.
 *
 * If a peer does not take part within the time-out, `*fault` becomes 1 + its index in `peers`; if it has
 * stopped or failed, -1 - its index. Then the rows are invalid, this and all later exchanges of the state
 * fail without waiting, as do those of the peers. The host may read `*fault` at any time,
 * and set it to end a running exchange. */
sptile_status sptile_exchange_rows(const sptile_row_exchange* exchange, void* stream);

/* A product of the rows of one device: C = A B for the columns that it owns, while `exchange` receives rows R
 * of other devices, then C += A' R for the last rows of C. Initialize with SPTILE_DISTRIBUTED_RUN_INIT. */
typedef struct sptile_distributed_run {
  size_t size;
  const sptile_row_exchange* exchange;
  const sptile_plan* local;
  const sptile_plan* boundary; /* NULL if no rows of others are needed; its operands have beta = 1 */
  const sptile_operands* local_operands;
  const sptile_operands* boundary_operands;
  const sptile_workspace* local_workspace;    /* as in sptile_run */
  const sptile_workspace* boundary_workspace; /* as in sptile_run */
  void* side;                                 /* cudaStream_t of the exchange */
  void* event; /* cudaEvent_t that orders both streams, of this sequence of runs only */
} sptile_distributed_run;

#define SPTILE_DISTRIBUTED_RUN_INIT \
  { sizeof(sptile_distributed_run), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL }

/* Enqueues the exchange on the side stream, after the present work of `stream`, and the products on `stream`
 * (NULL: the default stream), the second after the exchange. Both streams may be captured in a CUDA graph. If
 * it fails, an exchange may be running, for which the peers wait until their time-out. */
sptile_status sptile_run_distributed(const sptile_distributed_run* run, void* stream);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
