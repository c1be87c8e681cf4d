#!/usr/bin/env bash
# Debian packages of the release build, into target/deb:
#
#   engramd             program, unit, users, udev rules, configuration, pipelines, thresholds, manual pages,
#                       completions for bash, zsh and fish, documents
#   engram-runtime      libtorch and ONNX Runtime with their licences
#   engram-models-open  the models of the set `open`, with who holds them and under which licences
#
# ENGRAMD names another binary, DEB_COMPRESS another compression (xz: smaller, slower).
set -euo pipefail
source "$(dirname "$0")/lib.sh"
engramd=${ENGRAMD:-target/release/engramd}
[ -x "$engramd" ] || die "$engramd is missing: make build"
[ -e target/native/lib/libtorch_cpu.so ] || die "target/native/lib is missing: make setup"
[ ! -e target/native/.gpu_wheels ] || die "target/native/lib holds CUDA's libraries, too (scripts/gpu.sh); without them: rm -r target/native && make setup"
command -v dpkg-deb > /dev/null || die "dpkg-deb is missing: apt-get install dpkg"
command -v dpkg-shlibdeps > /dev/null || die "dpkg-shlibdeps is missing: apt-get install dpkg-dev"

version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
arch=$(dpkg --print-architecture)
out=target/deb
rm -rf "$out" && mkdir -p "$out"

# pack NAME: what lies in $out/NAME becomes NAME_version_arch.deb.
pack() {
    local name=$1 root=$out/$1
    (cd "$root" && find . -type f ! -path './DEBIAN/*' -printf '%P\0' | sort -z | xargs -0 md5sum) > "$root/DEBIAN/md5sums"
    echo "Installed-Size: $(du -sk --exclude=DEBIAN "$root" | cut -f1)" >> "$root/DEBIAN/control"
    dpkg-deb --root-owner-group "-Z${DEB_COMPRESS:-zstd}" --build "$root" "$out/${name}_${version}_$arch.deb" > /dev/null
    rm -rf "$root"
    say "$out/${name}_${version}_$arch.deb: $(du -h "$out/${name}_${version}_$arch.deb" | cut -f1)"
}

# control NAME DEPENDS RECOMMENDS SUMMARY, the long description on standard input.
control() {
    local name=$1 depends=$2 recommends=$3 summary=$4
    mkdir -p "$out/$name/DEBIAN"
    {
        printf 'Package: %s\nVersion: %s\nArchitecture: %s\nSection: science\nPriority: optional\n' "$name" "$version" "$arch"
        printf 'Maintainer: the engram project <engram@localhost>\n'
        [ -z "$depends" ] || printf 'Depends: %s\n' "$depends"
        [ -z "$recommends" ] || printf 'Recommends: %s\n' "$recommends"
        printf 'Description: %s\n' "$summary"
        sed 's/^/ /'
    } > "$out/$name/DEBIAN/control"
}

# links FILE...: the Debian packages of the libraries that these are linked to, each with the version that has all that is
# used of it, so that nothing installs where it could not start. The libraries of engram-runtime are in none.
links() {
    local work file files=() libraries=$PWD/target/native/lib found
    work=$(mktemp -d)
    mkdir "$work/debian"
    printf 'Source: engram\n\nPackage: engram\nArchitecture: any\n' > "$work/debian/control"
    for file; do files+=("-e$(realpath "$file")"); done
    found=$(cd "$work" && dpkg-shlibdeps -O --ignore-missing-info --warnings=0 "-l$libraries" "${files[@]}")
    rm -r "$work"
    sed -n 's/^shlibs:Depends=//p' <<< "$found" | grep . || die "dpkg-shlibdeps finds no package for $*"
}

runtime=()
for library in target/native/lib/*.so*; do
    # libtorch.so is a linker script, for building only.
    [ "$(basename "$library")" = libtorch.so ] || runtime+=("$library")
done
# The packages of the elements that every robot needs.
elements=$(awk '$3 == "needed" { print $2 }' packaging/debian/gstreamer_elements | grep '^gstreamer' | sort -u | paste -sd, | sed 's/,/, /g')
linked=$(links "$engramd")
control engramd "engram-runtime (= $version), systemd, $linked, $elements" \
    "engram-models-open, ca-certificates" \
    "memory for robots: sees, listens, remembers, and answers over MQTT" <<'TEXT'
engramd watches a robot's cameras and microphones, remembers who was there, what
they did and said, and where and when, and answers questions about it over MQTT.
Without the models of engram-models-open it starts, and says what it cannot do.
TEXT
root=$out/engramd
put 755 "$root/usr/bin" "$engramd"
[ "$(basename "$engramd")" = engramd ] || mv "$root/usr/bin/$(basename "$engramd")" "$root/usr/bin/engramd"
put 644 "$root/usr/lib/systemd/system" systemd/engramd.service
put 644 "$root/usr/lib/sysusers.d" systemd/sysusers.d/engram.conf
put 644 "$root/usr/lib/tmpfiles.d" systemd/tmpfiles.d/engram.conf
put 644 "$root/usr/lib/udev/rules.d" systemd/70-engram.rules
put 755 "$root/usr/share/engram" scripts/m3_graph.py
put 644 "$root/usr/share/engram/pipelines" pipelines/*
put 644 "$root/usr/share/engram/calibration" calibration/*
put 644 "$root/usr/share/engram/calibration/thresholds" calibration/thresholds/*
put 644 "$root/etc/engram" config/engram.toml
teach "$engramd" "$root/usr"
gzip -9n "$root"/usr/share/man/man*/*
doc=$root/usr/share/doc/engramd
put 644 "$doc" README.md CHANGELOG.md
put 644 "$doc/docs" docs/*.md
put 644 "$doc/docs/mqtt" docs/mqtt/*.json
put 644 "$doc/config/mosquitto" config/mosquitto/*
put 644 "$doc/config/emqx" config/emqx/*
put 644 "$doc/examples/engramd.service.d" systemd/engramd.service.d/*.conf
install -D -m 644 LICENSE "$doc/copyright"
echo /etc/engram/engram.toml > "$root/DEBIAN/conffiles"
put 755 "$root/DEBIAN" packaging/debian/postinst packaging/debian/prerm packaging/debian/postrm
pack engramd

linked=$(links "${runtime[@]}")
control engram-runtime "$linked" "" "libraries that engramd runs models with" <<'TEXT'
libtorch and ONNX Runtime as engramd needs them, for the CPU, in a folder of
their own: other programs do not see them.
TEXT
root=$out/engram-runtime
put 644 "$root/usr/lib/engram" "${runtime[@]}"
put 644 "$root/usr/share/doc/engram-runtime/licenses" target/native/licenses/*
{
    echo "The libraries of /usr/lib/engram are under the licences in licenses/:"
    ls target/native/licenses
} > "$out/copyright" && install -D -m 644 "$out/copyright" "$root/usr/share/doc/engram-runtime/copyright" && rm "$out/copyright"
pack engram-runtime

control engram-models-open "" "" "models of engramd's set open" <<'TEXT'
Models for faces, voices and sentences, all from package registries: what
engramd needs for its default set. Whose they are, and their licences, are in
/usr/share/doc/engram-models-open/copyright.
TEXT
root=$out/engram-models-open
python3 packaging/debian/models.py target/models "$out/copyright" > "$out/models.list"
while read -r file; do put 644 "$root/usr/share/engram/models" "target/models/$file"; done < "$out/models.list"
install -D -m 644 "$out/copyright" "$root/usr/share/doc/engram-models-open/copyright"
rm "$out/models.list" "$out/copyright"
# Hashes them once, so that a daemon that may not write there starts at once.
LD_LIBRARY_PATH=target/native/lib "$engramd" models verify --accept --dir "$root/usr/share/engram/models" > /dev/null ||
    die "a model file is damaged: engramd models verify"
pack engram-models-open
