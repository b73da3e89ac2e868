# A drawing has axes, captions, and names that stay text; thin matrices are no lines.
cp "$ROOT/data/examples/fem_plate.mtx" 'a<&>.mtx'
sptile spy 'a<&>.mtx' -o out.svg --reorder rcm --size 60
grep -o '>ordered by rcm<\|>original order<\|>a&lt;&amp;&gt;.mtx: [^<]*<' out.svg
grep -c 'class="tick"' out.svg > ticks && [ "$(cat ticks)" -ge 8 ]
grep -c 'href="data:image/png;base64,' out.svg
printf '%%%%MatrixMarket matrix coordinate pattern general\n1 4000 1\n1 5\n' > a.mtx
sptile spy a.mtx -o a.png --size 60 --json | json-has width=60 height=10
