# A part goes into a profile whose other numbers and comments stay.
kernel=$(sptile list kernels --json | jq -r '[.kernels[] | select(.op == "sddmm" and .format == "csr" and .available)][-1].name')
sptile calibrate --quick --only "$kernel,cpu.bmat.generic" -o all.tsv -q --json | json-has measurements=28
sed -i '2i # by hand' all.tsv
sptile calibrate --quick --op sddmm --only "$kernel" --into all.tsv -o part.tsv -q --json |
  json-has measurements=14 'output="part.tsv"' 'fits[].kernel'
grep -c 'by hand\|--only' part.tsv
diff <(grep cpu.bmat all.tsv) <(grep cpu.bmat part.tsv)
grep -q "$kernel" part.tsv || echo "nothing new"
# What is wrong is said before anything is measured.
sptile calibrate --only cpu.csr.none 2>&1 | cut -d';' -f1 || true
sptile calibrate --op spmm --only "$kernel" 2>&1 | grep -c "no kernel" || true
sed 's/^device.*/device cpu 0 another/' part.tsv > other.tsv
sptile calibrate --into other.tsv 2>&1 | grep -c 'is a profile of another' || true
sptile calibrate --into missing.tsv 2>&1 | grep -c 'missing.tsv' || true
sptile calibrate --no-suite 2>&1 || true
sptile calibrate --no-suite --only "$kernel" "$ROOT/data/examples/us_states.mtx" -o given.tsv --samples given.csv -q --json |
  json-has 'fits[].kernel'
cut -d, -f1 given.csv | sort -u
