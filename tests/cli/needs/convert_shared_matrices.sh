# Every real matrix beside the project: all formats, verified.
[ -d "$ROOT/../shared/matrices" ] || { echo "no ../shared/matrices" >&2; exit 77; }
for file in "$ROOT"/../shared/matrices/*.mtx.xz; do
  name=$(basename "$file" .mtx.xz)
  status=0
  sptile convert "$file" out.h5 --force -q --real-part --reorder degree 2> errors || status=$?
  if [ $status != 0 ]; then echo "$name: convert gave $status: $(cat errors)"; continue; fi
  sptile verify out.h5 > report || { echo "$name:"; cat report; }
done
