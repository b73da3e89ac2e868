# A tar archive as the SuiteSparse collection packs it is read without unpacking, whatever its kind and compression,
# also from a pipe. The bundle says where it came from.
mkdir plate && cd plate
printf '%%%%MatrixMarket matrix coordinate real general\n3 4 2\n1 4 2.5\n3 1 -1\n' > plate.mtx
printf '%%%%MatrixMarket matrix array real general\n3 1\n1\n2\n3\n' > plate_b.mtx
cd ..
sptile convert plate/plate.mtx want.h5 -q
for kind in v7 ustar pax gnu; do
  tar cf plate.tar --format=$kind plate/plate_b.mtx plate/plate.mtx
  sptile verify want.h5 --against plate.tar --json | jq .ok
done
gzip -k plate.tar && bzip2 -k plate.tar && xz -k plate.tar && zstd -q plate.tar
cp plate.tar.gz plate.tgz
for archive in plate.tar.gz plate.tgz plate.tar.bz2 plate.tar.xz plate.tar.zst; do sptile verify want.h5 --against $archive --json | jq .ok; done
sptile stats - --json < plate.tar.gz | jq -c '[.name, .rows, .cols, .nnz]'
sptile convert plate.tar.gz a.h5 -q
h5dump -a source_sha256 a.h5 | grep -c "$(sha256sum plate.tar.gz | cut -d' ' -f1)"
