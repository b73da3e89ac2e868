# What a file is called stays text on the page, and one word in the commands.
name="<img src=x onerror=alert(1)>&\"'\$(touch gone)'.mtx"
cp "$ROOT/data/examples/us_states.mtx" "./$name"
sptile report "./$name" -o "out.html" -n 4 -q
! grep -F '<img' out.html || echo "the name is markup"
grep -c '<bdi>&lt;img src=x onerror=alert(1)&gt;&amp;' out.html
sptile report "./$name" -o again.html -n 4 --json | jq -r '.commands[]' > commands
rm again.html
bash -euo pipefail commands > /dev/null 2>&1
[ -s again.html ] || echo "no commands"
ls
