# Shared by the scripts: messages, and the way to the checkout's root. Sourced, not run.

cd "$(dirname "${BASH_SOURCE[0]}")/.."
mkdir -p target/.setup

bold= plain=
[ -t 1 ] && bold=$'\033[1m' plain=$'\033[0m'
say() { printf '%s%s%s %s\n' "$bold" "[$(basename "$0" .sh)]" "$plain" "$*"; }
warn() { printf '%s %s\n' "[$(basename "$0" .sh)] note:" "$*" >&2; }
die() { printf '%s %s\n' "[$(basename "$0" .sh)] error:" "$*" >&2; exit 1; }

# put MODE FOLDER FILE...: installs the files that exist, times kept.
put() {
    local mode=$1 folder=$2 file; shift 2
    for file in "$@"; do
        [ -f "$file" ] || continue
        install -D -p -m "$mode" "$file" "$folder/$(basename "$file")"
    done
}

# teach ENGRAMD PREFIX: manual pages and completions of shells, as the program itself writes them.
teach() {
    local engramd=$1 share=$2/share zsh=site-functions
    [ -e /etc/debian_version ] && zsh=vendor-completions
    "$engramd" man "$share/man" > /dev/null
    mkdir -p "$share/bash-completion/completions" "$share/zsh/$zsh" "$share/fish/vendor_completions.d"
    "$engramd" completions bash > "$share/bash-completion/completions/engramd"
    "$engramd" completions zsh > "$share/zsh/$zsh/_engramd"
    "$engramd" completions fish > "$share/fish/vendor_completions.d/engramd.fish"
}

# done_before NAME FILE...: whether the step NAME ran with exactly these files.
done_before() {
    local name=$1; shift
    [ "$(cat "target/.setup/$name" 2>/dev/null)" = "$(sha256sum "$@" 2>/dev/null)" ]
}

# mark_done NAME FILE...: remembers that it did.
mark_done() {
    local name=$1; shift
    sha256sum "$@" > "target/.setup/$name"
}

# wheels FOLDER: downloads wheels into the folder. Reads lines "name==version sha256" for this machine; nothing else is
# fetched, and nothing that has another hash is taken.
wheels() {
    local folder=$1 package hash tag platforms=()
    rm -rf "$folder" && mkdir -p "$folder"
    for tag in manylinux_2_{28,27,26,25,24,18,17,12,5} manylinux2014 manylinux2010 manylinux1; do
        platforms+=(--platform "${tag}_$(uname -m)")
    done
    while read -r package hash; do
        say "downloading $package"
        printf '%s --hash=sha256:%s\n' "$package" "$hash" > "$folder/requirement.txt"
        python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: --require-hashes \
            --python-version 3.11 --implementation cp --abi cp311 --abi none "${platforms[@]}" \
            --dest "$folder" -r "$folder/requirement.txt" ||
            die "$package could not be had; the line above says why (network? pip's package index?)"
    done
}

# exports_python: the Python that models/export runs on, made when it is missing; prints its path (as src/models/fetch.rs).
exports_python() {
    local venv=target/export-venv wanted=models/export/requirements.txt system=/usr/bin/python3
    if ! cmp -s "$wanted" "$venv/requirements.txt" || [ ! -x "$venv/bin/python" ]; then
        [ -x "$system" ] || system=python3
        "$system" -m venv --clear --system-site-packages "$venv" >&2 || die "no virtual environment; run: apt-get install python3-venv"
        "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r "$wanted" >&2 ||
            die "the packages of $wanted could not be had; the line above says why"
        cp "$wanted" "$venv/requirements.txt"
    fi
    echo "$venv/bin/python"
}
