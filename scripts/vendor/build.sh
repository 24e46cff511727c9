#!/bin/sh
# Makes src/onnx_autodoc/render/html/assets/vendor.js and LICENSES.txt from the packages that package.json pins.
# Run by `make vendor`; both files are checked in, so that nobody needs npm to install the tool or to run it.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
assets="$here/../../src/onnx_autodoc/render/html/assets"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cp "$here/package.json" "$here/entry.js" "$work/"
cd "$work"
npm install --no-package-lock --no-audit --no-fund --loglevel=error > /dev/null
node_modules/.bin/esbuild entry.js --bundle --minify --format=iife --target=es2020 --charset=ascii \
    --legal-comments=none --outfile=vendor.js --log-level=warning

# lodash asks for the global object in the way of old browsers, in a branch that no browser of today takes.
sed -i 's/Function("return this")()/globalThis/g' vendor.js

# The page's policy forbids code made of strings, and an inline script ends at the first such tag.
if grep -q -E '\beval\(|\bFunction\(|</script|<!--' vendor.js; then
    echo "the bundle makes code of strings, or would end its own script element" >&2
    exit 1
fi

licences() {
    for package in cytoscape @dagrejs/dagre @dagrejs/graphlib; do
        version=$(node -p "require('./node_modules/$package/package.json').version")
        printf '%s %s\n\n' "$package" "$version"
        cat "node_modules/$package/LICENSE"
        printf '\n----------------------------------------------------------------------\n\n'
    done
}
licences > "$assets/LICENSES.txt"
cp vendor.js "$assets/vendor.js"
