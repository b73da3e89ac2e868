# A list is one word: what follows is a matrix, which is looked at before anything is measured.
sptile calibrate --quick -o p.tsv --only cpu.csr.generic missing.mtx
