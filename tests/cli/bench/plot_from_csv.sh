# What was measured before is drawn without measuring, the same each time.
cp "$ROOT/tests/cli/bench/measured.csv" log.csv
sptile bench --csv log.csv --plot a.svg
sptile bench --csv log.csv --plot b.svg > /dev/null
cmp a.svg b.svg
cmp log.csv "$ROOT/tests/cli/bench/measured.csv"
python3 - <<'PYTHON'
import xml.etree.ElementTree as tree
svg = tree.parse("a.svg").getroot()  # well-formed, or this fails
names = [element.text for element in svg.iter() if element.tag.endswith("title")]
print(*names, sep="\n")
PYTHON
sptile bench --csv log.csv --plot a.svg
