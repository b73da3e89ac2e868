sptile calibrate --quick -o p.tsv
