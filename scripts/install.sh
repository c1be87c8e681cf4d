#!/usr/bin/env bash
# Puts the release build where a Linux system expects it, below $DESTDIR$PREFIX (default /usr).
# Configuration that is already there is left alone.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
prefix=${DESTDIR:-}${PREFIX:-/usr}
etc=${DESTDIR:-}/etc/engram

[ -x target/release/engramd ] || die "target/release/engramd is missing: make build"

put 755 "$prefix/bin" target/release/engramd
for library in target/native/lib/*.so*; do
    # libtorch.so is a linker script, for building only.
    [ "$(basename "$library")" = libtorch.so ] || put 755 "$prefix/lib/engram" "$library"
done
put 644 "$prefix/share/doc/engramd/licenses" target/native/licenses/*
put 755 "$prefix/share/engram" scripts/m3_graph.py
put 644 "$prefix/share/engram/pipelines" pipelines/*
put 644 "$prefix/share/engram/calibration" calibration/*
put 644 "$prefix/share/engram/calibration/thresholds" calibration/thresholds/*
for model in target/models/*; do
    [ "$(basename "$model")" = models.lock ] || put 644 "$prefix/share/engram/models" "$model"
done
# Hashes them once, so that a daemon that may not write there starts at once.
"$prefix/bin/engramd" models verify --accept --dir "$prefix/share/engram/models" > /dev/null ||
    die "a model file is damaged: engramd models verify"
put 644 "$prefix/share/doc/engramd" config/engram.toml README.md LICENSE
put 644 "$prefix/share/doc/engramd/docs" docs/*.md
put 644 "$prefix/share/doc/engramd/docs/mqtt" docs/mqtt/*.json
put 644 "$prefix/share/doc/engramd/config/mosquitto" config/mosquitto/*
put 644 "$prefix/share/doc/engramd/config/emqx" config/emqx/*
put 644 "$prefix/lib/systemd/system" systemd/*.service systemd/*.socket
put 644 "$prefix/share/doc/engramd/examples/engramd.service.d" systemd/engramd.service.d/*.conf
put 644 "$prefix/lib/sysusers.d" systemd/sysusers.d/*.conf
put 644 "$prefix/lib/tmpfiles.d" systemd/tmpfiles.d/*.conf
put 644 "$prefix/lib/udev/rules.d" systemd/*.rules systemd/udev/*.rules
teach "$prefix/bin/engramd" "$prefix"
[ -e "$etc/engram.toml" ] || put 644 "$etc" config/engram.toml

if [ -z "${DESTDIR:-}" ] && [ "$(id -u)" = 0 ] && command -v systemctl > /dev/null; then
    systemd-sysusers 2> /dev/null || true
    systemd-tmpfiles --create 2> /dev/null || true
    systemctl daemon-reload 2> /dev/null || true
fi
say "installed below $prefix; \`engramd doctor\` tells what is missing, \`systemctl enable --now engramd\` starts it"
