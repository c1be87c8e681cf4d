#!/usr/bin/env bash
# Installs target/deb/*.deb into an empty root, looks at what is there, starts the daemon from it, removes it again.
# Dependencies outside are not unpacked there: libraries of the machine stand in for them.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
ls target/deb/*.deb > /dev/null 2>&1 || die "no packages in target/deb: scripts/deb.sh"
root=$(mktemp -d)
daemon=
trap 'kill $daemon 2> /dev/null || true; rm -rf "$root"' EXIT
mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates" "$root/etc"
: > "$root/var/lib/dpkg/status"
printf 'root:x:0:0:root:/root:/bin/sh\n' > "$root/etc/passwd"
printf 'root:x:0:\nvideo:x:44:\naudio:x:29:\nrender:x:106:\n' > "$root/etc/group"

dpkg --root="$root" --force-depends --force-script-chrootless -i target/deb/*.deb 2>&1 | grep -v 'depends on\|is not installed\|dependency problems' || true
for package in engramd engram-runtime engram-models-open; do
    state=$(dpkg-query --admindir="$root/var/lib/dpkg" -W -f '${db:Status-Abbrev}' "$package")
    [ "$state" = "ii " ] || die "$package is not installed ($state)"
done
grep -q '^engram:' "$root/etc/passwd" || die "the user engram was not made"
[ "$(stat -c %a "$root/var/lib/engram")" = 700 ] || die "/var/lib/engram is not 0700"
[ -L "$root/etc/systemd/system/multi-user.target.wants/engramd.service" ] || die "the service is not enabled"

for package in engramd engram-runtime; do
    needs=$(dpkg-query --admindir="$root/var/lib/dpkg" -W -f '${Depends}' "$package")
    grep -q 'libc6 (>= ' <<< "$needs" || die "$package installs beside any libc6 ($needs)"
done

share=$root/usr/share
copyright=$share/doc/engram-models-open/copyright
grep -q 'Permission is hereby granted' "$copyright" || die "the text of the MIT licence is missing"
grep -q 'common-licenses/Apache-2.0' "$copyright" || die "the text of the Apache licence is not pointed to"
for model in "$share"/engram/models/*; do
    [[ $model == */models.lock ]] || grep -q "models/$(basename "$model")$" "$copyright" || die "nobody holds $model"
done
for command in $("$root/usr/bin/engramd" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p' | grep -v '^help$'); do
    [ -s "$share/man/man1/engramd-$command.1.gz" ] || die "engramd $command has no manual page"
    for script in bash-completion/completions/engramd zsh/vendor-completions/_engramd fish/vendor_completions.d/engramd.fish; do
        grep -q -- "$command" "$share/$script" || die "$script does not know $command"
    done
done
zcat "$share/man/man5/engram.toml.5.gz" | grep -q analyse_fps || die "engram.toml has no manual page"
bash -n "$share/bash-completion/completions/engramd" || die "bash cannot read its completions"

if command -v systemd-analyze > /dev/null; then
    exposure() { systemd-analyze security --offline=true --root="$1" --threshold="$2" engramd.service | tail -1; }
    exposure "$root" 20 || die "the unit is more exposed than 2.0"
    mkdir -p "$root/etc/systemd/system/engramd.service.d"
    cp "$root"/usr/share/doc/engramd/examples/engramd.service.d/{gpu,cameras,password}.conf "$root/etc/systemd/system/engramd.service.d/"
    exposure "$root" 29 || die "the unit with GPU and cameras is more exposed than 2.9"
    systemd-analyze verify --man=no --recursive-errors=no --root="$root" engramd.service ||
        die "systemd does not understand all of the unit and its drop-ins"
fi

# start WHAT DIR...: the installed daemon, without a network beyond loopback, answers; SIGTERM ends it.
start() {
    local what=$1 log=$root/$1.log; shift
    "$root/usr/bin/engramd" run --config "$root/etc/engram/engram.toml" --data-dir "$root/$what" --set robot.id=clean \
        --set mqtt.listen=127.0.0.1:0 --set mqtt.listen_v5=127.0.0.1:0 --set http.listen=127.0.0.1:0 "$@" 2> "$log" &
    daemon=$!
    for _ in $(seq 300); do
        grep -q '^answering' "$log" && break
        kill -0 $daemon 2> /dev/null || { cat "$log" >&2; die "$what: the daemon ended"; }
        sleep 0.1
    done
    grep -q '^answering' "$log" || { cat "$log" >&2; die "$what: it does not answer"; }
    kill $daemon && wait $daemon || die "$what: it did not end well"
    daemon=
}
"$root/usr/bin/engramd" --version
"$root/usr/bin/engramd" config check --config "$root/etc/engram/engram.toml" > /dev/null
start with-models --set models.dir="$root/usr/share/engram/models"
! grep '^warning: without' "$root/with-models.log" || die "a model of the set open is missing"
start without-models --set models.dir="$root/nowhere"
grep -q '^warning: without' "$root/without-models.log" || die "without models nothing is said to be missing"

dpkg --root="$root" --force-depends --force-script-chrootless -P engramd engram-runtime engram-models-open > /dev/null
[ ! -e "$root/usr/bin/engramd" ] && [ ! -e "$root/etc/engram/engram.toml" ] || die "something is left behind"
[ -d "$root/var/lib/engram" ] || die "the memory's folder is gone"
say "installed, started with and without models, removed"
