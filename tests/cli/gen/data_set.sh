# Features and labels follow the rows of the graph, are compressed as it is, and depend on nothing but the options.
community=(gen community --rows 90 --edges 400 --mix 0.2 --classes 3 --features 30 --noise 0.5 --data-set)
mkdir one two
sptile "${community[@]}" -o one/graph.mtx --json |
  json-has 'data_set.features="one/features.mtx"' 'data_set.labels="one/nodes.tsv"'
sptile "${community[@]}" --threads 5 -o two/graph.mtx.xz -q
for file in graph.mtx features.mtx nodes.tsv; do xz -dc two/$file.xz | cmp - one/$file; done
head -2 one/features.mtx
head -3 one/nodes.tsv
cut -f 1,2 one/nodes.tsv | sort | uniq -c
