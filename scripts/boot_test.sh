#!/usr/bin/env bash
# A clean Debian with nothing but systemd gets target/deb/*.deb, is booted in a container without any network, and the
# service is tried in it, sandbox and all: started, asked, reloaded, killed, stopped; a replay runs under the same
# hardening and must end in the memory of a replay outside; without the models it starts degraded.
# Needs root, systemd-nspawn and debootstrap (apt-get install systemd-container debootstrap); says what it skips.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
ls target/deb/*.deb > /dev/null 2>&1 || die "no packages in target/deb: make deb"
recording=${ENGRAM_SHARED:-$PWD/../shared}/recordings/two_people_dev.mp4
[ "$(id -u)" = 0 ] || { warn "SKIPPED: booting a container needs root"; exit; }
for tool in systemd-nspawn debootstrap; do
    command -v $tool > /dev/null || { warn "SKIPPED: $tool is not installed"; exit; }
done

# The clean system, made once; what is written on it goes into a layer that is thrown away.
base=$PWD/target/boot/base
if [ ! -e "$base.made" ]; then
    rm -rf "$base"
    mkdir -p "$base"
    mirror=$(apt-get download -qq --print-uris hostname | sed -E "s/^'([^']*)\/pool.*/\1/")
    debootstrap --variant=minbase --include=systemd-sysv,dbus,ca-certificates bookworm "$base" "$mirror" > target/boot/debootstrap.log ||
        die "debootstrap failed: target/boot/debootstrap.log"
    touch "$base.made"
fi
layer=$(mktemp -d)
root=$layer/root
# shellcheck disable=SC2329
clean() {
    umount -R "$root" 2> /dev/null || true
    umount "$layer" 2> /dev/null || true
    rmdir "$layer" 2> /dev/null || true
}
trap clean EXIT
mount -t tmpfs -o size=8g tmpfs "$layer"
mkdir -p "$layer"/{upper,work,root}
mount -t overlay overlay -o "lowerdir=$base,upperdir=$layer/upper,workdir=$layer/work" "$root"

# Dependencies come from Debian; from here on there is no network.
mkdir -p "$root/packages" "$root/proof"
cp target/deb/*.deb "$root/packages/"
for file in /etc/resolv.conf /etc/hosts /etc/apt/apt.conf.d/*registry*; do
    [ ! -e "$file" ] || cp -L "$file" "$root$file"
done
rm -rf "$root"/etc/apt/sources.list*
cp -r /etc/apt/sources.list* "$root/etc/apt/"
mount --bind /proc "$root/proc"
say "installing the packages and what they depend on"
chroot "$root" sh -ec 'export DEBIAN_FRONTEND=noninteractive
    apt-get update && apt-get install -y --no-install-recommends /packages/*.deb' > target/boot/install.log 2>&1 ||
    { tail -20 target/boot/install.log >&2; die "the packages do not install on a clean Debian"; }
umount "$root/proc"
rm -rf "$root/packages"

# The same hardening around a replay.
unit=$root/usr/lib/systemd/system/engramd.service
replayed=(replay /proof/recording.mp4 --json --set window.clip_secs=30 --set models.set=open --set transcriber.kind=none)
sed -e 's/^Type=.*/Type=oneshot/' -e '/^WatchdogSec/d' -e '/^Restart/d' -e '/^Exec/d' -e '/^\[Install\]/,$d' "$unit" > "$root/etc/systemd/system/engram-replay.service"
printf '[Service]\nStateDirectory=engram-replay\nTimeoutStartSec=300\nStandardOutput=file:/proof/replay.jsonl\nExecStart=/usr/bin/engramd %s --data-dir /var/lib/engram-replay\n' \
    "${replayed[*]}" >> "$root/etc/systemd/system/engram-replay.service"
if [ -e "$recording" ]; then cp "$recording" "$root/proof/recording.mp4"; else warn "SKIPPED: the replay ($recording is not here)"; fi

cat > "$root/proof/run" << 'PROOF'
#!/bin/bash
# Runs inside, as a unit of its own; each line of /proof/result is a check that held, and the last one says so.
exec > /proof/log 2>&1
# Each check is a command of its own: `set -e` passes over all but the last of a && list.
set -xeo pipefail
held() { echo "$1" >> /proof/result; }
answers() { for _ in $(seq 100); do engramd ask "$1" --json > /proof/answer 2> /proof/answer.err && return; sleep 0.2; done; return 1; }
asked() { answers "$1" && cat /proof/answer; }
restarts() { systemctl show -P NRestarts engramd; }
trap 'systemctl status --no-pager -l engramd; journalctl --no-pager -u engramd -u engram-replay > /proof/journal; systemctl poweroff --force' EXIT

for _ in $(seq 300); do systemctl is-active -q engramd && break; sleep 0.1; done
systemctl is-active engramd
held "the service runs after the first boot, $(systemctl show -P StatusText engramd)"
systemd-analyze verify --man=no --recursive-errors=no engramd.service
held "systemd understands every line of the unit"
engramd remember "The spare key is in the blue box."
asked "Where is the spare key?" | grep "blue box"
held "it remembers and answers"
[ "$(stat -c '%U %a' /var/lib/engram)" = "engram 700" ]
[ "$(stat -c '%U %a' /var/lib/engram/engram.db)" = "engram 600" ]
held "the store is its own user's alone"
pid=$(systemctl show -P MainPID engramd)
grep -q '^NoNewPrivs:.*1$' "/proc/$pid/status"
grep -q '^Seccomp:.*2$' "/proc/$pid/status"
grep -q '^CapEff:.*0000000000000000$' "/proc/$pid/status"
held "it has no capability, no new privileges, and a filter of system calls"
sed -i -E 's/^#? *clip_secs = .*/clip_secs = 20.0/' /etc/engram/engram.toml
grep -q '^clip_secs = 20.0' /etc/engram/engram.toml
systemctl reload engramd
sleep 2
[ "$(systemctl show -P MainPID engramd)" = "$pid" ]
systemctl is-active engramd
held "a changed configuration is taken without a restart"
sed -i 's/^clip_secs = 20.0/clip_sec = 20.0/' /etc/engram/engram.toml
if systemctl reload engramd; then exit 1; fi
[ "$(systemctl show -P MainPID engramd)" = "$pid" ]
systemctl is-active engramd
held "a wrong one is refused, and the service goes on"
journalctl --no-pager -u engramd -o json | grep '"CODE_FILE":"src/' > /dev/null
held "its messages are in the journal with their fields"
sed -i 's/^clip_sec = 20.0/clip_secs = 20.0/' /etc/engram/engram.toml
before=$(restarts)
kill -9 "$pid"
for _ in $(seq 100); do [ "$(restarts)" -gt "$before" ] && systemctl is-active -q engramd && break; sleep 0.1; done
asked "Where is the spare key?" | grep "blue box"
held "killed, it is started again and remembers"
sleep 35
[ "$(restarts)" = "$((before + 1))" ]
held "the watchdog is fed"
begun=$(date +%s%N)
systemctl stop engramd
took=$((($(date +%s%N) - begun) / 1000000))
[ "$took" -lt 5000 ]
[ "$(systemctl show -P Result engramd)" = success ]
held "it stops in $took ms"
if [ -e /proof/recording.mp4 ]; then
    systemctl start engram-replay
    engramd export --hash --data-dir /var/lib/engram-replay > /proof/hash
    held "a replay runs in the sandbox"
fi
systemctl start engramd
dpkg -P engram-models-open
systemctl restart engramd
systemctl is-active engramd
journalctl --no-pager -u engramd | grep engram-models-open
held "without the models it starts, and names the package that has them"
systemctl stop engramd
held "all held"
PROOF
chmod +x "$root/proof/run"
printf '[Unit]\nAfter=multi-user.target\n[Service]\nType=exec\nExecStart=/proof/run\n[Install]\nWantedBy=default.target\n' > "$root/etc/systemd/system/engram-proof.service"
chroot "$root" systemctl enable engram-proof.service > /dev/null 2>&1

say "booting it"
export SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1
timeout 400 systemd-nspawn -q --register=no --keep-unit --private-network -M engram-proof -D "$root" --console=pipe -b < /dev/null > target/boot/console.log 2>&1 || true
cp "$root"/proof/{log,journal,answer,answer.err,replay.jsonl} target/boot/ 2> /dev/null || true
sed 's/^/   /' "$root/proof/result" 2> /dev/null || true
[ "$(tail -1 "$root/proof/result" 2> /dev/null)" = "all held" ] || { tail -8 "$root/proof/log" >&2; die "see target/boot/log, journal and console.log"; }

if [ -e "$recording" ]; then
    target/release/engramd "${replayed[@]/\/proof\/recording.mp4/$recording}" --data-dir "$layer/outside" > /dev/null
    outside=$(target/release/engramd export --hash --data-dir "$layer/outside")
    inside=$(cat "$root/proof/hash")
    [ -n "$inside" ] && [ "$inside" = "$outside" ] || die "the memory of the replay in the sandbox is another: $inside, $outside"
    say "the replay in the sandbox made the memory of the one outside: $inside"
fi
say "the service runs on a clean system"
