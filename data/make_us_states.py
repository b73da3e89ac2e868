#!/usr/bin/env python3
"""Writes the border graph of the 48 contiguous states of the USA and D.C. as Matrix Market text (pattern, symmetric).

Two states are neighbours when they share a border line; states that meet in one point only (Four Corners) are not.

  data/make_us_states.py > data/examples/us_states.mtx
"""
BORDERS = """
AL: FL GA MS TN
AR: LA MO MS OK TN TX
AZ: CA NM NV UT
CA: AZ NV OR
CO: KS NE NM OK UT WY
CT: MA NY RI
DC: MD VA
DE: MD NJ PA
FL: AL GA
GA: AL FL NC SC TN
IA: IL MN MO NE SD WI
ID: MT NV OR UT WA WY
IL: IA IN KY MO WI
IN: IL KY MI OH
KS: CO MO NE OK
KY: IL IN MO OH TN VA WV
LA: AR MS TX
MA: CT NH NY RI VT
MD: DC DE PA VA WV
ME: NH
MI: IN OH WI
MN: IA ND SD WI
MO: AR IA IL KS KY NE OK TN
MS: AL AR LA TN
MT: ID ND SD WY
NC: GA SC TN VA
ND: MN MT SD
NE: CO IA KS MO SD WY
NH: MA ME VT
NJ: DE NY PA
NM: AZ CO OK TX
NV: AZ CA ID OR UT
NY: CT MA NJ PA VT
OH: IN KY MI PA WV
OK: AR CO KS MO NM TX
OR: CA ID NV WA
PA: DE MD NJ NY OH WV
RI: CT MA
SC: GA NC
SD: IA MN MT ND NE WY
TN: AL AR GA KY MO MS NC VA
TX: AR LA NM OK
UT: AZ CO ID NV WY
VA: DC KY MD NC TN WV
VT: MA NH NY
WA: ID OR
WI: IA IL MI MN
WV: KY MD OH PA VA
WY: CO ID MT NE SD UT
"""


def main():
    neighbours = {}
    for line in BORDERS.strip().splitlines():
        state, others = line.split(":")
        neighbours[state] = others.split()
    number = {state: i + 1 for i, state in enumerate(sorted(neighbours))}
    for state, others in neighbours.items():
        assert all(state in neighbours[other] for other in others), state
    edges = [(number[s], number[o]) for s in number for o in neighbours[s] if number[s] > number[o]]
    print("%%MatrixMarket matrix coordinate pattern symmetric")
    print("% borders of the 48 contiguous states of the USA and D.C., by postal code")
    print(len(number), len(number), len(edges))
    for row, col in sorted(edges):
        print(row, col)


if __name__ == "__main__":
    main()
