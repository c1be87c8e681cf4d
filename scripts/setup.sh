#!/usr/bin/env bash
# Brings everything that building, testing and the demo need. Run again at any time: what is done is skipped.
#
#   scripts/setup.sh [dev|release] [tests|page]  which build of engramd fetches the models (the one you need anyway);
#                                                tests: they are compiled meanwhile; page: a browser, too
set -euo pipefail
source "$(dirname "$0")/lib.sh"
profile=${1:-release}

# ---------------------------------------------------------------- 1. Rust

if ! command -v cargo > /dev/null; then
    die "Rust is missing. Install it, then run this again:
    curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y && . ~/.cargo/env"
fi
wanted=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
have=$(cargo --version | cut -d' ' -f2) || die "cargo does not run; \`rustup toolchain install\` repairs the toolchain of rust-toolchain.toml"
if [ "$(printf '%s\n' "$wanted" "$have" | sort -V | head -1)" != "$wanted" ]; then
    die "Rust $have is older than $wanted; run: rustup update"
fi
say "1/5 Rust $have"

# ---------------------------------------------------------------- 2. Debian packages

packages=(
    build-essential pkg-config unzip                # building
    libgstreamer1.0-dev libgstreamer-plugins-base1.0-dev gstreamer1.0-tools
    gstreamer1.0-plugins-{base,good,bad,ugly} gstreamer1.0-libav gstreamer1.0-alsa   # cameras and files
    libasound2-dev                                  # microphones
    libssl-dev                                      # encryption at rest
    espeak-ng python3-numpy python3-pil       # the demo recording
    mosquitto mosquitto-clients                     # tests with another broker
    python3-venv                                    # models/export
)
command -v npm > /dev/null || packages+=(npm)       # face-api's weights
python3 -m pip --version > /dev/null 2>&1 || packages+=(python3-pip)

missing=()
for package in "${packages[@]}"; do
    dpkg-query -W -f '${Status}' "$package" 2> /dev/null | grep -q '^install ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
    say "2/5 Debian packages: installing ${missing[*]}"
    command -v apt-get > /dev/null || die "this is no Debian; install what corresponds to: ${missing[*]}"
    sudo=()
    if [ "$(id -u)" != 0 ]; then
        command -v sudo > /dev/null || die "run as root: apt-get install ${missing[*]}"
        sudo=(sudo)
    fi
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq update < /dev/null
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install "${missing[@]}" \
        < /dev/null > target/.setup/apt.log 2>&1 || { tail -5 target/.setup/apt.log >&2; die "apt-get could not install them"; }
else
    say "2/5 Debian packages: present"
fi

# ---------------------------------------------------------------- 3. native libraries

say "3/5 native libraries (libtorch, ONNX Runtime)"
scripts/native.sh

# ---------------------------------------------------------------- 4. models

say "4/5 models of the sets open and edge (building engramd, which fetches them)"
case $profile in
dev) cargo build --quiet --locked --bin engramd; engramd=target/debug/engramd ;;
release) cargo build --quiet --locked --release --bin engramd; engramd=target/release/engramd ;;
*) die "unknown build \`$profile\`: dev or release" ;;
esac
tests=
if [ "${2:-}" = tests ]; then
    cargo build --quiet --locked --tests > target/.setup/tests.log 2>&1 &
    tests=$!
fi
mkdir -p target/models
mirror=()
[ -d ../shared/models ] && mirror=(--mirror ../shared/models)
# A file that cannot be had is named and costs one ability, not the set-up.
"$engramd" models fetch --set open --set edge --as-far-as-possible --dir target/models "${mirror[@]}" \
    > target/.setup/fetch.log 2>&1 || { cat target/.setup/fetch.log >&2; die "the models could not be fetched"; }
grep -v ': present$' target/.setup/fetch.log || true
"$engramd" models verify --dir target/models > target/.setup/verify.log ||
    { cat target/.setup/verify.log >&2; die "a model file is damaged; remove it and run this again"; }

# ---------------------------------------------------------------- 5. demo recording

demo=(scripts/evening.sh scripts/evening/{evening.toml,kokoro.py,speech.py,compose.py}
    scripts/demo_recording.sh scripts/demo_recording.py scripts/demo_scenes.json)
if [ -s target/demo/demo.mp4 ] && done_before demo "${demo[@]}"; then
    say "5/5 demo recording: present"
else
    say "5/5 demo recording"
    if scripts/demo_recording.sh; then
        mark_done demo "${demo[@]}"
    else
        warn "the demo recording could not be made; \`make demo VIDEO=file.mp4\` shows engram on a video of yours"
    fi
fi

# ---------------------------------------------------------------- a browser, for the tests of the web page

# What cannot be had is named; the tests then say that they are skipped.
if [ "${2:-}" = page ]; then
    say "Chromium, Playwright, axe-core"
    if ! command -v chromium > /dev/null; then
        sudo=()
        [ "$(id -u)" = 0 ] || sudo=(sudo)
        "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install chromium \
            < /dev/null > target/.setup/chromium.log 2>&1 || warn "Chromium could not be installed; run: apt-get install chromium"
    fi
    wanted=tests/browser/requirements.txt
    if ! cmp -s "$wanted" target/page/venv/requirements.txt; then
        # Debian's own Python: Pillow comes with it.
        /usr/bin/python3 -m venv --clear --system-site-packages target/page/venv &&
            target/page/venv/bin/python -m pip install --quiet --disable-pip-version-check -r "$wanted" &&
            cp "$wanted" target/page/venv/requirements.txt || warn "the packages of $wanted could not be had"
    fi
    axe=axe-core@4.14.1
    if [ "$(cat target/page/axe 2> /dev/null)" != "$axe" ]; then
        npm install --silent --no-save --no-audit --no-fund --ignore-scripts --prefix target/page "$axe" &&
            echo "$axe" > target/page/axe || warn "$axe could not be had from npm"
    fi
fi
if [ -n "$tests" ] && ! wait "$tests"; then
    cat target/.setup/tests.log >&2
    die "the tests do not compile"
fi
say "ready: make test, make demo"
