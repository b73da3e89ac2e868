// A matrix of PETSc that multiplies by sptile: MATSHELL with MatMult and, for many vectors at once,
// MATPRODUCT_AB with dense matrices. Rows of process p are those of part p, in the order of its old_ids.
//
//   petsc_shell PARTS MATRIX.h5 N [PETSc's options]
//
// Multiplies N vectors, compares with the whole matrix, and solves (A^T A + shift I) x = b, of a symmetric A,
// by conjugate gradients. PETSc numbers columns first, sptile rows first: blocks are turned on the way.
#include <petscksp.h>

#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#define SPTILE_DIST_MPI
#include "sptile_dist.hpp"

namespace {

using sptile::dist::MpiExchange;
using Product = sptile::dist::Product<double, MpiExchange>;

/// What the shell holds: the exchange, and a product for each number of vectors that was met.
class DividedMatrix {
 public:
  DividedMatrix(std::string folder, MPI_Comm communicator)
      : folder_(std::move(folder)), exchange_(communicator) {}

  Product& product(std::int64_t n) {
    auto& found = products_[n];
    if (!found) found = std::make_unique<Product>(folder_, exchange_, sptile::dist::ProductOptions{.n = n});
    return *found;
  }

  /// c = A b for n columns, of `ld` numbers each, as PETSc has them.
  void multiply(const PetscScalar* b, std::int64_t ldb, PetscScalar* c, std::int64_t ldc, std::int64_t n) {
    Product& a = product(n);
    const std::int64_t rows = a.owned();
    in_.resize(static_cast<std::size_t>(rows * n));
    out_.resize(in_.size());
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < rows; ++i) in_[static_cast<std::size_t>(i * n + j)] = b[j * ldb + i];
    a.run(in_, out_);
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < rows; ++i) c[j * ldc + i] = out_[static_cast<std::size_t>(i * n + j)];
  }

 private:
  std::string folder_;
  MpiExchange exchange_;
  std::map<std::int64_t, std::unique_ptr<Product>> products_;
  std::vector<double> in_, out_;
};

DividedMatrix& divided(Mat shell) {
  void* context = nullptr;
  PetscCallAbort(PETSC_COMM_WORLD, MatShellGetContext(shell, &context));
  return *static_cast<DividedMatrix*>(context);
}

PetscErrorCode multiply_vector(Mat shell, Vec x, Vec y) {
  PetscFunctionBeginUser;
  const PetscScalar* b = nullptr;
  PetscScalar* c = nullptr;
  PetscCall(VecGetArrayRead(x, &b));
  PetscCall(VecGetArrayWrite(y, &c));
  divided(shell).multiply(b, 0, c, 0, 1);
  PetscCall(VecRestoreArrayRead(x, &b));
  PetscCall(VecRestoreArrayWrite(y, &c));
  PetscFunctionReturn(0);
}

/// C is dense, with the rows of the shell and the columns of B.
PetscErrorCode prepare_block(Mat shell, Mat b, Mat c, void** /*unused*/) {
  PetscFunctionBeginUser;
  PetscInt rows = 0, local = 0, columns = 0, local_columns = 0;
  PetscCall(MatGetSize(shell, &rows, nullptr));
  PetscCall(MatGetLocalSize(shell, &local, nullptr));
  PetscCall(MatGetSize(b, nullptr, &columns));
  PetscCall(MatGetLocalSize(b, nullptr, &local_columns));
  PetscCall(MatSetSizes(c, local, local_columns, rows, columns));
  PetscCall(MatSetType(c, MATDENSE));
  PetscCall(MatSetUp(c));
  PetscCall(MatAssemblyBegin(c, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(c, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

PetscErrorCode multiply_block(Mat shell, Mat b, Mat c, void* /*unused*/) {
  PetscFunctionBeginUser;
  PetscInt columns = 0, ldb = 0, ldc = 0;
  const PetscScalar* from = nullptr;
  PetscScalar* to = nullptr;
  PetscCall(MatGetSize(b, nullptr, &columns));
  PetscCall(MatDenseGetLDA(b, &ldb));
  PetscCall(MatDenseGetLDA(c, &ldc));
  PetscCall(MatDenseGetArrayRead(b, &from));
  PetscCall(MatDenseGetArrayWrite(c, &to));
  divided(shell).multiply(from, ldb, to, ldc, columns);
  PetscCall(MatDenseRestoreArrayRead(b, &from));
  PetscCall(MatDenseRestoreArrayWrite(c, &to));
  PetscFunctionReturn(0);
}

PetscErrorCode make_shell(DividedMatrix& matrix, Mat* shell) {
  PetscFunctionBeginUser;
  const auto rows = static_cast<PetscInt>(matrix.product(1).owned());
  PetscCall(MatCreateShell(PETSC_COMM_WORLD, rows, rows, PETSC_DETERMINE, PETSC_DETERMINE, &matrix, shell));
  PetscCall(MatShellSetOperation(*shell, MATOP_MULT, reinterpret_cast<void (*)(void)>(multiply_vector)));
  PetscCall(MatShellSetMatProductOperation(*shell, MATPRODUCT_AB, prepare_block, multiply_block, nullptr,
                                           MATDENSE, MATDENSE));
  PetscFunctionReturn(0);
}

/// A number for column j of the vector that has row `id` of the whole matrix.
double number(std::int64_t id, std::int64_t j) {
  return std::sin(0.37 * static_cast<double>(id) + static_cast<double>(j));
}

/// The largest difference between C and the product with the whole matrix, over all processes.
PetscErrorCode compare(const std::string& path, const Product& part, Mat c, PetscInt n, double* difference) {
  PetscFunctionBeginUser;
  sptile::Matrix whole(path);
  const sptile::CsrMatrix a = whole.csr();
  const auto* values = static_cast<const double*>(a.values.data);
  const PetscScalar* found = nullptr;
  PetscInt ld = 0;
  PetscCall(MatDenseGetLDA(c, &ld));
  PetscCall(MatDenseGetArrayRead(c, &found));
  double worst = 0;
  for (std::size_t i = 0; i < part.old_ids().size(); ++i)
    for (PetscInt j = 0; j < n; ++j) {
      const auto row = static_cast<std::size_t>(part.old_ids()[i]);
      double sum = 0;
      for (auto k = static_cast<std::size_t>(a.row_ptr[row]);
           k < static_cast<std::size_t>(a.row_ptr[row + 1]); ++k)
        sum += values[k] * number(a.col_idx[k], j);
      worst = std::max(worst, std::abs(sum - found[j * ld + static_cast<PetscInt>(i)]));
    }
  PetscCall(MatDenseRestoreArrayRead(c, &found));
  MPI_Allreduce(&worst, difference, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD);
  PetscFunctionReturn(0);
}

/// What KSP multiplies with: A A + shift I.
struct Normal {
  Mat a = nullptr;
  Vec middle = nullptr;
  double shift = 1;
};

PetscErrorCode multiply_normal(Mat shell, Vec x, Vec y) {
  PetscFunctionBeginUser;
  void* context = nullptr;
  PetscCall(MatShellGetContext(shell, &context));
  const auto& normal = *static_cast<const Normal*>(context);
  PetscCall(MatMult(normal.a, x, normal.middle));
  PetscCall(MatMult(normal.a, normal.middle, y));
  PetscCall(VecAXPY(y, normal.shift, x));
  PetscFunctionReturn(0);
}

/// The relative residual of a solution by conjugate gradients.
PetscErrorCode solve(Mat a, double* residual) {
  PetscFunctionBeginUser;
  Normal normal;
  normal.a = a;
  Vec x = nullptr, b = nullptr, back = nullptr;
  PetscCall(MatCreateVecs(a, &x, &b));
  PetscCall(VecDuplicate(b, &back));
  PetscCall(VecDuplicate(b, &normal.middle));
  PetscCall(VecSet(b, 1));
  PetscInt rows = 0;
  PetscCall(MatGetLocalSize(a, &rows, nullptr));
  Mat system = nullptr;
  PetscCall(MatCreateShell(PETSC_COMM_WORLD, rows, rows, PETSC_DETERMINE, PETSC_DETERMINE, &normal, &system));
  PetscCall(MatShellSetOperation(system, MATOP_MULT, reinterpret_cast<void (*)(void)>(multiply_normal)));
  KSP solver = nullptr;
  PC none = nullptr;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &solver));
  PetscCall(KSPSetOperators(solver, system, system));
  PetscCall(KSPSetType(solver, KSPCG));
  PetscCall(KSPGetPC(solver, &none));
  PetscCall(PCSetType(none, PCNONE));
  PetscCall(KSPSetTolerances(solver, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 2000));
  PetscCall(KSPSetFromOptions(solver));
  PetscCall(KSPSolve(solver, b, x));
  PetscCall(MatMult(system, x, back));
  PetscCall(VecAXPY(back, -1, b));
  double left = 0, whole = 0;
  PetscCall(VecNorm(back, NORM_2, &left));
  PetscCall(VecNorm(b, NORM_2, &whole));
  *residual = left / whole;
  PetscCall(KSPDestroy(&solver));
  PetscCall(MatDestroy(&system));
  for (Vec* one : {&x, &b, &back, &normal.middle}) PetscCall(VecDestroy(one));
  PetscFunctionReturn(0);
}

PetscErrorCode run(const std::string& parts, const std::string& whole, PetscInt n) {
  PetscFunctionBeginUser;
  DividedMatrix matrix(parts, PETSC_COMM_WORLD);
  Mat a = nullptr, b = nullptr, c = nullptr;
  PetscCall(make_shell(matrix, &a));
  const Product& part = matrix.product(1);
  const auto rows = static_cast<PetscInt>(part.owned());
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, rows, PETSC_DECIDE, PETSC_DETERMINE, n, nullptr, &b));
  PetscScalar* numbers = nullptr;
  PetscInt ld = 0;
  PetscCall(MatDenseGetLDA(b, &ld));
  PetscCall(MatDenseGetArrayWrite(b, &numbers));
  for (PetscInt j = 0; j < n; ++j)
    for (PetscInt i = 0; i < rows; ++i)
      numbers[j * ld + i] = number(part.old_ids()[static_cast<std::size_t>(i)], j);
  PetscCall(MatDenseRestoreArrayWrite(b, &numbers));
  PetscCall(MatMatMult(a, b, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &c));
  PetscCall(MatMatMult(a, b, MAT_REUSE_MATRIX, PETSC_DEFAULT, &c));
  double difference = 0, residual = 0;
  PetscCall(compare(whole, part, c, n, &difference));
  PetscCall(solve(a, &residual));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "difference %.2e residual %.2e\n", difference, residual));
  for (Mat* one : {&a, &b, &c}) PetscCall(MatDestroy(one));
  if (!(difference < 1e-10) || !(residual < 1e-8)) SETERRQ(PETSC_COMM_WORLD, PETSC_ERR_PLIB, "not right");
  PetscFunctionReturn(0);
}

}  // namespace

int main(int argc, char** argv) {
  PetscCall(PetscInitialize(&argc, &argv, nullptr, nullptr));
  if (argc < 4) return 2;
  int status = 0;
  try {
    status = run(argv[1], argv[2], std::stoi(argv[3])) == 0 ? 0 : 1;
  } catch (const sptile::Exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    status = 3;
  }
  PetscCall(PetscFinalize());
  return status;
}
