/* The C interface of libsptile: make a matrix, plan products with it, run them many times.
 *
 * Structs begin with their size, which tells the library which fields a caller knows: set it to sizeof, or
 * begin with an ..._INIT. In structs of options 0 is the default of every field, unless stated.
 *
 * Everything that can fail returns sptile_status; sptile_last_error() then says what was wrong and what would
 * be right. Handles are opaque. No function keeps a pointer to a struct or a string after it returns; arrays
 * of a matrix in host memory are borrowed, see sptile_matrix_create. NULL handles are answered with
 * SPTILE_USAGE, and destroying NULL does nothing.
 *
 * Thread safety: plans are immutable, any number of threads may run one at the same time, each with its own
 * result. Any number of threads may plan with one matrix; sptile_matrix_refresh needs it for itself.
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
  SPTILE_I32 = 2,  /* of rows and columns in memory, not of values, as the next */
  SPTILE_I64 = 4,
  SPTILE_F16 = 6,
  SPTILE_BF16 = 7,
  SPTILE_F32 = 8,
  SPTILE_F64 = 9
} sptile_dtype;

typedef enum sptile_device { SPTILE_CPU = 0, SPTILE_CUDA = 1 } sptile_device;

/* What NaN and infinity in dense operands may do. On the CPU both give IEEE results exactly: stored zeros are
 * never multiplied. */
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

/* Order of the numbers of a result that has one for each entry. */
typedef enum sptile_order {
  SPTILE_ORDER_PACKED = 0, /* as the format of the plan stores its values: the fastest */
  SPTILE_ORDER_CSR = 1 /* row after row, by column: that of the CSR matrix. On a CUDA device it goes through
                          the workspace; what says where numbers go comes from the bundle (--refreshable), or
                          is made on the device */
} sptile_order;

/* What is done to sums before they are written. */
typedef enum sptile_activation { SPTILE_ACTIVATION_NONE = 0, SPTILE_RELU = 1 } sptile_activation;

/* How much row i attends to column j, from row i of X and row j of Y. */
typedef enum sptile_score {
  SPTILE_SCORE_DOT = 0,     /* x . y (transformers) */
  SPTILE_SCORE_COSINE = 1,  /* x . y / (|x| |y|) (AGNN) */
  SPTILE_SCORE_ADDITIVE = 2 /* leaky_relu(x + y) of one number each, n = 1 (GAT) */
} sptile_score;

typedef struct sptile_matrix sptile_matrix;
typedef struct sptile_plan sptile_plan;
typedef struct sptile_part sptile_part;

/* Version of this interface. Within one version functions and fields are only added. */
int sptile_abi_version(void);

/* Version of the library: "0.1.0". */
const char* sptile_version(void);

/* Message of the last call on this thread that did not return SPTILE_OK; "" before the first. Valid until the
 * next failing call on the same thread. */
const char* sptile_last_error(void);

/* ---- Matrices ---- */

typedef struct sptile_matrix_options {
  size_t size;
  int32_t refreshable; /* != 0: formats have values of their own, so that sptile_matrix_refresh works */
  int32_t trusted;     /* != 0: skip the one-pass check of the arrays */
  int32_t copy; /* != 0: a file is read into memory, not mapped, for folders that others can write; arrays in
                   host or device memory are copied, not borrowed */
  int32_t reserved;
  uint64_t most_device_bytes; /* bound for the formats of the matrix in device memory; 0: none */
  const char* matrix; /* which one of a bundle that has several ("halo" of a part, see 'sptile partition');
                         NULL: the first one. Of sptile_matrix_open */
} sptile_matrix_options;

#define SPTILE_MATRIX_OPTIONS_INIT \
  { sizeof(sptile_matrix_options), 0, 0, 0, 0, 0, NULL }

/* What the first array of a matrix in memory has. */
typedef enum sptile_layout {
  SPTILE_CSR = 0, /* rows + 1 row pointers */
  SPTILE_COO = 1  /* the row of each entry */
} sptile_layout;

/* What is done about entries that are not in order: ascending rows, within them strictly ascending columns.
 */
typedef enum sptile_disorder {
  SPTILE_REFUSE = 0, /* SPTILE_BAD_INPUT, naming the place */
  SPTILE_SORT = 1,   /* they are sorted; two of one place are refused */
  SPTILE_SUM = 2     /* they are sorted, and those of one place are added up */
} sptile_disorder;

/* The arrays of a matrix in memory. */
typedef struct sptile_arrays {
  size_t size;
  int64_t rows, cols, nnz;
  const void* row;     /* see sptile_layout */
  const void* col;     /* the column of each entry */
  const void* values;  /* NULL: a pattern, where every entry is 1 */
  int32_t value_dtype; /* sptile_dtype; SPTILE_NONE for a pattern */
  int32_t layout;      /* sptile_layout; in host memory SPTILE_CSR */
  int32_t row_dtype; /* SPTILE_I32 or SPTILE_I64; 0: I64 of SPTILE_CSR, I32 of SPTILE_COO. In host memory 0 */
  int32_t col_dtype; /* SPTILE_I32 or SPTILE_I64; 0: I32. In host memory 0 */
  int32_t disorder;  /* sptile_disorder; in host memory SPTILE_REFUSE */
  int32_t device;    /* sptile_device where all three are */
  int32_t ordinal;   /* which CUDA device */
  int32_t reserved;
} sptile_arrays;

#define SPTILE_ARRAYS_INIT \
  { sizeof(sptile_arrays), 0, 0, 0, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0 }

/* How the matrices of a batch stand in the one that they become. */
typedef enum sptile_arrangement {
  SPTILE_BLOCK_DIAGONAL =
      0,             /* rows and columns of each follow those of the one before: operands are stacked */
  SPTILE_STACKED = 1 /* rows of each follow; all have the same columns, so that one B serves all */
} sptile_arrangement;

/* Opens a bundle ('sptile convert' makes them) by mapping it. Checks everything but the data, at a cost that
 * does not grow with the file. `options` may be NULL here and below: the defaults. *matrix is NULL after a
 * failure. */
sptile_status sptile_matrix_open(const char* path, const sptile_matrix_options* options,
                                 sptile_matrix** matrix);

/* Makes a matrix of arrays. They are borrowed: keep them, unchanged, until the matrix and all plans made of
 * it are destroyed; with options->copy they may go when this returns. Those in device memory are checked and,
 * where they are not CSR with SPTILE_I64 and SPTILE_I32 in order, copied into it, on `stream`, a cudaStream_t
 * of their device (NULL: the default one); it waits for that. For arrays in host memory, which are checked
 * when they are planned, `stream` is NULL. */
sptile_status sptile_matrix_create(const sptile_arrays* arrays, const sptile_matrix_options* options,
                                   void* stream, sptile_matrix** matrix);

/* Makes one matrix of `count` >= 1 CSR matrices, so that one run serves them all: faster than a run of each
 * where they are small. It is a matrix as any other; rows, columns and entries of each begin behind those of
 * the ones before (but columns of SPTILE_STACKED), and so do new values.
 *
 * The structs stand one behind the other, all of one size, with arrays as for sptile_matrix_create, in one
 * memory, values of one type and one `disorder`. They are checked and copied, those of a device on it, and
 * may go when this returns. Sizes may be 0. Errors name the matrix, counted from 0; SPTILE_UNSUPPORTED when
 * all together have more than 2^31 - 1 rows or columns. */
sptile_status sptile_matrix_create_batch(const sptile_arrays* parts, int64_t count, int32_t arrangement,
                                         const sptile_matrix_options* options, void* stream,
                                         sptile_matrix** matrix);

/* Makes another matrix of the same data with other options: no file is opened again, so it is the one that
 * was opened even if it was replaced or deleted since; no array is copied. New values stay with the matrix
 * that took them. `copy` and `matrix` of the options are not set. Arrays that `matrix` borrows are borrowed
 * by both. */
sptile_status sptile_matrix_share(const sptile_matrix* matrix, const sptile_matrix_options* options,
                                  sptile_matrix** other);

/* Plans keep what they need, and stay valid. */
void sptile_matrix_destroy(sptile_matrix* matrix);

typedef struct sptile_matrix_info {
  size_t size;
  int64_t rows, cols, nnz;
  int32_t value_dtype;  /* sptile_dtype of the source values; SPTILE_NONE for a pattern */
  int32_t format_count; /* formats that are stored: see sptile_matrix_format */
  int32_t symmetric;    /* 1: equals its transpose, 0: does not, -1: not known */
  int32_t transposed;  /* formats of the transpose that are stored; those of a symmetric matrix are its own */
  uint64_t host_bytes; /* taken now, beside mapped files and borrowed arrays */
  uint64_t device_bytes; /* taken now by formats, on all devices */
  uint64_t content;      /* of a bundle: hash of the arrays in it, stored plans excepted; 0: not a bundle */
} sptile_matrix_info;

/* Describes a matrix; info->size says how much is wanted. */
sptile_status sptile_matrix_describe(const sptile_matrix* matrix, sptile_matrix_info* info);

/* Name of the stored format `index`, for example "bittcf"; valid as long as the library is loaded. */
sptile_status sptile_matrix_format(const sptile_matrix* matrix, int index, const char** name);

/* Gives the CSR arrays of a matrix, in the original order of rows, whatever order it was converted in:
 * SPTILE_CSR with SPTILE_I64 and SPTILE_I32. They are the matrix's, only to be read, and valid until it is
 * destroyed; what sptile_matrix_refresh brought is not in them. Set arrays->size. Those in host memory are
 * checked in one pass, unless the matrix is trusted. */
sptile_status sptile_matrix_arrays(const sptile_matrix* matrix, sptile_arrays* arrays);

/* How the entries of arrays in device memory, as they were given, became those of the CSR arrays. */
typedef struct sptile_given {
  size_t size;
  int64_t count;           /* entries as they were given: the number of new values of sptile_matrix_refresh */
  const int64_t* position; /* [count] given entries in the order of the CSR arrays; NULL: it is their order */
  const int64_t* first;    /* [nnz + 1] entry i of the CSR arrays is the sum of the given entries
                              position[first[i]] to position[first[i + 1] - 1]; NULL: there is one of each */
  int32_t device;          /* sptile_device where both lists are */
  int32_t ordinal;
} sptile_given;

/* Gives the order of the entries of a matrix; the lists are the matrix's, only to be read, and valid until it
 * is destroyed. With them, lists in SPTILE_ORDER_CSR become lists in the order of the given entries. Set
 * given->size. */
sptile_status sptile_matrix_given(const sptile_matrix* matrix, sptile_given* given);

/* New values of a matrix. */
typedef struct sptile_values {
  size_t size;
  const void* data;         /* host memory, or that of the device where the matrix is used */
  int64_t count;            /* entries of the matrix, as it was given */
  const sptile_plan* order; /* NULL: in the order of the source: CSR, or as the entries of arrays in device
                               memory were given. A plan of the matrix: packed, in the order in which its
                               format stores them, which is that of what "sddmm" writes. */
  int32_t value_dtype;      /* that of the formats in use */
  int32_t reserved;
} sptile_values;

/* Replaces the values of a matrix made refreshable, in all its formats, so for all its plans. Values in
 * device memory are moved on `stream` (a cudaStream_t; NULL: the default one), which nothing waits for;
 * values in host memory are in place when this returns. Plans must not run meanwhile. */
sptile_status sptile_matrix_refresh(sptile_matrix* matrix, const sptile_values* values, void* stream);

/* ---- Parts of a partition ---- */

/* Opens one part of what 'sptile partition' made by mapping it, once for both matrices, and proves its lists,
 * which are small beside its matrices: lengths, ranges, offsets that rise, rows that ascend.
 * sptile_part_matrix gives the matrices. options: only `copy` may be set; may be NULL. *part is NULL after a
 * failure; SPTILE_BAD_INPUT also for a bundle that is no part. */
sptile_status sptile_part_open(const char* path, const sptile_matrix_options* options, sptile_part** part);

void sptile_part_destroy(sptile_part* part);

/* Makes a matrix of an open part: `local` where `name` is NULL, or "halo". The file is not opened again.
 * `copy` and `matrix` of the options are not set. The matrix may outlive the part. */
sptile_status sptile_part_matrix(const sptile_part* part, const char* name,
                                 const sptile_matrix_options* options, sptile_matrix** matrix);

/* What an exchange needs. C = local B + halo R, where R has the rows of B that others own, one sender behind
 * the other: `send_rows` of part q for p are rows receive_offset[q] and up of R on p. */
typedef struct sptile_part_info {
  size_t size;
  uint64_t id;                   /* of the partition: the parts of one have the same */
  int64_t rank, parts;           /* of this part, counted from 0; how many there are */
  int64_t rows, entries;         /* of the whole matrix, which is square */
  int64_t owned, needed;         /* rows of the part; rows of others that it needs: columns of halo */
  const int32_t* old_ids;        /* [owned] row of the whole matrix of each; arrays are the part's */
  const int32_t* halo_ids;       /* [needed] the same of each column of halo */
  const int64_t* send_offset;    /* [parts + 1] where the rows for each part begin in send_rows */
  const int64_t* receive_offset; /* [parts + 1] where those of each part begin in R */
  const int32_t* send_rows;      /* [send_offset[parts]] rows of this part, ascending for each receiver */
  int32_t symmetric;             /* != 0: the whole matrix equals its transpose */
  int32_t reserved;
} sptile_part_info;

/* Describes a part; info->size says how much is wanted. */
sptile_status sptile_part_describe(const sptile_part* part, sptile_part_info* info);

/* ---- Plans ---- */

typedef struct sptile_plan_options {
  size_t size;
  int64_t n;          /* most columns of the dense operands of a run; must be set, >= 1 */
  const char* format; /* name of a format, or several with commas to choose from; NULL or "auto": all that are
                         stored. On a CUDA device one that is not stored is made from the CSR arrays, with the
                         same result as 'sptile convert'. */
  const char* kernel; /* name of a kernel to force, for example "cpu.csr.avx2"; NULL: the best one */
  int32_t dense;      /* sptile_dtype of the dense operands; SPTILE_NONE: f32 */
  int32_t device;     /* sptile_device */
  int32_t ordinal;    /* which CUDA device */
  int32_t threads;    /* 0: all that OpenMP gives; one is used in a forked process, whatever stands here */
  int32_t nonfinite;  /* sptile_nonfinite */
  int32_t precision;  /* sptile_precision: the least exact products that will do */
  int32_t choice;     /* sptile_choice */
  int32_t transpose;  /* != 0: with A^T in the place of A; "sddmm" does not have it */
  int32_t result; /* sptile_dtype of the result, which is added to in it, too: SPTILE_F32 where `dense` has 16
                     bits; SPTILE_NONE: that of the operands */
  int32_t order;  /* sptile_order of results with a number for each entry */
  int32_t replan; /* != 0: take no plan that 'sptile plan' stored in the bundle */
  int32_t reserved;
  void* stream;       /* cudaStream_t on which arrays in device memory are converted; NULL: the default one */
  int64_t m;          /* columns of operands that have m of them; 0: n */
  int32_t heads;      /* products of one run, each with operands of its own, at most 65535; 0: 1. See
                         sptile_operand for where they stand. */
  int32_t activation; /* sptile_activation, of "spmm_update" and "update_gradient" */
  int32_t score;      /* sptile_score, of attention */
  int32_t transposed_weights; /* != 0: W of "spmm_update" is given as m x n */
} sptile_plan_options;

#define SPTILE_PLAN_OPTIONS_INIT \
  { sizeof(sptile_plan_options), 0, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, 0, 0, 0, 0, 0 }

/* Plans an operation:
 *
 *   "spmm"   C = alpha A B + beta C, operands B (cols x n) and C (rows x n)
 *   "sddmm"  out = alpha (X Y^T at the entries of A) + beta out, operands X (rows x n), Y (cols x n) and out,
 * one number for each entry, see sptile_order; scaled: each dot product is multiplied by the value of its
 * entry, too
 *   "attention"  out = softmax of the rows of (alpha sptile_score + bias) times V, operands X (rows x n),
 * Y (cols x n), V (cols x m), bias (one number for each entry, or NULL), statistics (rows x 2, or NULL) and
 * out (rows x m); "attention_gradient" and, for a plan of the transpose, "attention_gradient_t"
 *   "softmax_rows"  P = softmax of the rows of alpha S, operands S and P, one number for each entry;
 * "softmax_rows_gradient"
 *   "spmm_update"  C = sptile_activation of (alpha (A B) W + bias), operands B (cols x n), W (n x m), bias (m
 * numbers, or NULL), Z (rows x n, A B itself, or NULL) and C (rows x m); "update_gradient", that of W and
 * bias
 *
 * Rows are in the original order, whatever order the matrix was converted in. Of several formats the one
 * predicted to be fastest is taken; see sptile_predict. With options->choice = SPTILE_CHOICE_MEASURED it
 * plans each format and kernel that can run (but those predicted to take more than 3 times the best, where
 * all have predictions), runs it on random operands, which are there while it plans, and takes the fastest;
 * on a CUDA device it does so on the default stream, and needs device memory for these operands:
 * SPTILE_DEVICE names the bytes when there is no room.
 *
 * A plan serves runs of 1 to n columns. On a CUDA device it takes one that 'sptile plan' stored in the bundle
 * if operation, formats, n, types, precision and device agree, and proves it before use: SPTILE_BAD_INPUT for
 * one that is none of the matrix.
 *
 * A format is checked, converted and uploaded with the first plan that needs it, and shared by all plans of
 * the matrix; it goes with the last of them. Conversions of arrays in device memory need up to 100 bytes per
 * entry while they run. */
sptile_status sptile_plan_create(sptile_matrix* matrix, const char* operation,
                                 const sptile_plan_options* options, sptile_plan** plan);

void sptile_plan_destroy(sptile_plan* plan);

typedef struct sptile_plan_info {
  size_t size;
  const char* operation; /* this and the next two are valid as long as the library is loaded */
  const char* format;    /* that it multiplies with, for example "bittcf" */
  const char* kernel;    /* that it runs, for example "cpu.bittcf.avx512" */
  int64_t rows, cols, entries, n;
  int64_t least_n;          /* for runs of fewer columns planning anew may be faster; 1 on the CPU */
  uint64_t workspace_bytes; /* device memory that one run needs beside its operands; 0 on the CPU */
  int32_t dense;            /* sptile_dtype of the dense operands */
  int32_t result;           /* sptile_dtype of the result */
  int32_t precision;        /* sptile_precision: how it forms products */
  int32_t device, ordinal;
  int32_t order;  /* sptile_order */
  int32_t stored; /* != 0: the plan was stored in the bundle, and taken */
  int32_t values; /* sptile_dtype of the values of its format, which may have been converted to fewer bits
                     than those of the source; those of a run have it. SPTILE_NONE for a pattern */
} sptile_plan_info;

/* Describes a plan; info->size says how much is wanted. */
sptile_status sptile_plan_describe(const sptile_plan* plan, sptile_plan_info* info);

/* One way to do a product. */
typedef struct sptile_prediction {
  const char* format;  /* valid as long as the library is loaded, as is the next */
  const char* kernel;  /* NULL: the device has none for the format */
  double microseconds; /* predicted; negative: there is no model for the kernel */
  int32_t precision;   /* sptile_precision of the products */
  int32_t usable;      /* 0: no kernel for these types or this precision */
  int32_t chosen;      /* != 0: what sptile_plan_create takes */
  int32_t reserved;
} sptile_prediction;

/* Predicts what stored formats would take: the list that sptile_plan_create chooses from, with the same
 * operation and options. Fills in at most `capacity` elements, each `element_size` =
 * sizeof(sptile_prediction) bytes, and gives their full number in *count; predictions may be NULL when
 * capacity is 0. Without a model of the device csr is chosen. SPTILE_PROFILE=FILE in the environment replaces
 * the constants of the model ('sptile calibrate' makes such files). */
sptile_status sptile_predict(const sptile_matrix* matrix, const char* operation,
                             const sptile_plan_options* options, sptile_prediction* predictions,
                             size_t element_size, int capacity, int* count);

/* ---- Running ---- */

/* A dense operand: row-major, of the planned type. Only results, the last ones, are written.
 *
 * In a run of several heads it is that of the first; those of the others stand each `batch` elements behind
 * the one before: matrices one behind the other (batch >= rows * ld), or side by side in rows (batch >= its
 * columns, ld >= heads * batch). Heads of results that overlap in any other way are refused; operands that
 * are only read may overlap. */
typedef struct sptile_operand {
  void* data;
  int64_t ld;    /* elements between rows, >= its columns; 0: its columns. Not read of a list of numbers. */
  int64_t batch; /* elements between heads, >= 0; 0: they follow each other without gaps */
} sptile_operand;

#define SPTILE_MAX_OPERANDS 10

/* What one run is given. Begin with SPTILE_OPERANDS_INIT: alpha is 1. */
typedef struct sptile_operands {
  size_t size;
  double alpha;
  double beta;    /* 0: the result is only written, its old contents (NaN too) do not matter */
  int32_t scaled; /* != 0, of operations that have it: multiplied by the values of A */
  int32_t reserved;
  int64_t n; /* columns of this run, at most those planned; 0: those planned */
  sptile_operand dense[SPTILE_MAX_OPERANDS]; /* in the order of the operation, see sptile_plan_create */
  double slope;                              /* of SPTILE_SCORE_ADDITIVE below 0 */
  const void*
      values; /* values for this run in place of those of the matrix, of its type, where the plan runs:
                 one for each entry, packed as its format stores them, which is how "sddmm" writes them
                 for the same format. NULL: those of the matrix. A pattern has none to replace. Those of
                 a plan on a CUDA device are read fastest at multiples of 16 bytes. */
  int64_t values_batch; /* elements between the values of heads, >= 0; 0: all have the same */
} sptile_operands;

#define SPTILE_OPERANDS_INIT                                                    \
  {                                                                             \
    sizeof(sptile_operands), 1, 0, 0, 0, 0,                                     \
        {{NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0},  \
         {NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}}, \
        0.2, NULL, 0                                                            \
  }

/* Device memory for runs of one plan on several streams at a time: each has its own, of workspace_bytes,
 * zeroed before its first use and then left to these runs. */
typedef struct sptile_workspace {
  void* data;
  size_t bytes;
} sptile_workspace;

/* Runs a plan: nothing is allocated; the same bits for any number of threads. Results must not overlap other
 * operands. On a CUDA device all operands are device memory and `stream` is a cudaStream_t of the plan's
 * device (NULL: the default stream); it returns when the work is enqueued and nothing waits, so that it may
 * be captured in a CUDA graph. `workspace` may be NULL when runs of the plan follow each other on one stream.
 * On the CPU both are NULL. */
sptile_status sptile_run(const sptile_plan* plan, const sptile_operands* operands, void* stream,
                         const sptile_workspace* workspace);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
