sptile calibrate --quick --op spmm -o p.tsv
