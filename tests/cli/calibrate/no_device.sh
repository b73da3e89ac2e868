sptile calibrate --device tpu -o p.tsv
