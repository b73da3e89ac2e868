#!/usr/bin/env python3
"""Assembles the stiffness matrix of a plate with a hole and writes it as Matrix Market text.

Plane stress, bilinear quadrilaterals (Q4, 2x2 Gauss points), two unknowns per node, Young's modulus 1, Poisson's ratio
0.3. Elements whose centre lies in the hole are left out, and so are nodes that no element uses; the left edge is
clamped. The matrix is symmetric positive definite; the lower triangle is written. Standard library only; the output
depends on the arguments alone.

  data/make_fem_plate.py 48 24 > data/examples/fem_plate.mtx
"""
import math
import sys

POISSON = 0.3
PLANE_STRESS = [[1 / (1 - POISSON**2), POISSON / (1 - POISSON**2), 0],
                [POISSON / (1 - POISSON**2), 1 / (1 - POISSON**2), 0],
                [0, 0, 1 / (2 * (1 + POISSON))]]
CORNERS = [(-1, -1), (1, -1), (1, 1), (-1, 1)]


def element_stiffness():
    """8x8 stiffness of the unit square, unknowns (x, y) of the four corners in turn."""
    k = [[0.0] * 8 for _ in range(8)]
    for gauss_x, gauss_y in CORNERS:
        xi, eta = gauss_x / math.sqrt(3), gauss_y / math.sqrt(3)
        b = [[0.0] * 8 for _ in range(3)]
        for node, (cx, cy) in enumerate(CORNERS):
            dx = cx * (1 + cy * eta) / 2  # d/dx = 2 d/dxi on a unit square
            dy = cy * (1 + cx * xi) / 2
            b[0][2 * node] = b[2][2 * node + 1] = dx
            b[1][2 * node + 1] = b[2][2 * node] = dy
        for i in range(8):
            for j in range(8):
                k[i][j] += 0.25 * sum(b[p][i] * PLANE_STRESS[p][q] * b[q][j] for p in range(3) for q in range(3))
    return k


def elements(nx, ny):
    """Yields the corner nodes of each element outside the hole; nodes are (column, row) of the grid."""
    radius = ny / 5
    for y in range(ny):
        for x in range(nx):
            if math.hypot(x + 0.5 - nx / 2, y + 0.5 - ny / 2) >= radius:
                yield [(x, y), (x + 1, y), (x + 1, y + 1), (x, y + 1)]


def assemble(nx, ny):
    """Returns (number of unknowns, {(row, col): value}) of the lower triangle, clamped nodes removed."""
    mesh = list(elements(nx, ny))
    free = sorted({node for element in mesh for node in element if node[0] > 0})
    first = {node: 2 * i for i, node in enumerate(free)}
    stiffness = element_stiffness()
    matrix = {}
    for element in mesh:
        unknowns = [first[n] + d if n in first else None for n in element for d in (0, 1)]
        for i, row in enumerate(unknowns):
            for j, col in enumerate(unknowns):
                if row is not None and col is not None and row >= col:
                    matrix[row, col] = matrix.get((row, col), 0.0) + stiffness[i][j]
    return 2 * len(free), matrix


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: make_fem_plate.py ELEMENTS_X ELEMENTS_Y")
    size, matrix = assemble(int(sys.argv[1]), int(sys.argv[2]))
    print("%%MatrixMarket matrix coordinate real symmetric")
    print(f"% plate with a hole, plane stress, {sys.argv[1]} x {sys.argv[2]} Q4 elements, clamped on the left")
    print(size, size, len(matrix))
    for (row, col), value in sorted(matrix.items()):
        print(row + 1, col + 1, format(round(value, 12) + 0.0, ".9g"))  # rounding noise becomes 0


if __name__ == "__main__":
    main()
