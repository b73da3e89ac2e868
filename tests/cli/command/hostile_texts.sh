# Names, cells and keys of files never reach the terminal as bytes that it obeys, and JSON, HTML and SVG stay valid.
export W=$PWD
clean() {  # all that sptile prints is UTF-8 without control characters and changes of direction
  { sptile "$@" 2>&1 || true; } | python3 -c '
import sys, unicodedata
text = sys.stdin.buffer.read().decode("utf-8")
bad = [c for c in text if c not in "\n\t" and unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp")]
sys.exit(f"{sys.argv[1:]} printed {bad!r}" if bad or not text else 0)' "$@"
}
evil=$'\e]0;t\a\e[2J\xff\xc2\x9b\xe2\x80\xae'
python3 - "$evil" << 'PY'
import os, sys, zipfile
evil = os.fsencode(sys.argv[1]).decode("cp437")
with zipfile.ZipFile("a.npz", "w") as z:
    z.writestr(evil + ".npy", "x")
with zipfile.ZipFile("a.zip", "w") as z:
    z.writestr(evil, "x")
PY
clean stats a.npz
clean stats a.zip
printf 'sptile-profile\t1\ndevice\tcpu\t0\tA%sB\n' "$evil" > p.tsv
SPTILE_PROFILE=$PWD/p.tsv clean doctor
SPTILE_PROFILE=$PWD/p.tsv clean doctor --json
cp "$ROOT/data/examples/us_states.mtx" "$evil.mtx"
clean stats "$evil.mtx"
clean stats "$evil"
clean convert "$evil.mtx" "$evil.h5" --format bittcf
clean info "$evil.h5"
clean verify "$evil.h5"
SPTILE_PROFILE=$PWD/p.tsv clean run "$evil.h5" --op spmm -n 4 --explain
clean run "$evil.h5" --op spmm -n 4 --format "$evil"
clean reorder "$evil.mtx" -o "$evil.perm.mtx" --method degree
clean partition "$evil.mtx" --parts 2 -o "$evil.parts" --method rows --json
clean verify "$evil.parts"
clean list "$evil"
clean "$evil"
bench=(bench "$evil.mtx" -n 4 --format csr --warmup 0 --repeat 1)
clean "${bench[@]}" --csv c.csv
clean "${bench[@]}" --csv c.csv --json
clean "${bench[@]}" --against c.csv
[ "$(wc -l < c.csv)" = 2 ]  # the second run found the row of the first
LC_ALL=C grep -q $'[\e\a\xff]' c.csv && echo "c.csv has control bytes" >&2
sed "s/cpu\.csr[^,]*/${evil//\\/}/" c.csv > key.csv
clean "${bench[@]}" --csv key.csv
clean "${bench[@]}" --against key.csv
sed "2s/,false,/,$evil,/" c.csv > cell.csv
clean "${bench[@]}" --against cell.csv
python3 -c 'print(open("c.csv").read().replace(",false,", ",\"" + "[" * 300000 + "]" * 300000 + "\",", 1), end="")' > deep.csv
clean "${bench[@]}" --against deep.csv
printf 'source,target,%s\n0,1,2\n' "$evil" > heading.csv
clean stats heading.csv
printf "0 1 {'%s': 2}\n" "$evil" > attribute.edges
clean stats attribute.edges
sptile report "$evil.mtx" -o r.html -q > log 2>&1
iconv -f utf-8 -t utf-8 r.html > /dev/null
sptile spy "$evil.mtx" -o s.svg -q > log 2>&1
python3 -c 'import xml.dom.minidom as m; m.parse("s.svg")'
