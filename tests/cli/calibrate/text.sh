sptile calibrate --quick --op spmm --only cpu.csr.generic,cpu.bittcf.generic -o p.tsv
