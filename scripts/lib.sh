# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2119,SC2120
# What the scripts share; source it. Messages go to stderr, results to stdout.

PROGRAM=${0##*/}
# shellcheck disable=SC2034
MXGPU_TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
MXGPU_CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/mxgpu

say() {
    printf '%s: %s\n' "$PROGRAM" "$*" >&2
}

die() {
    say "$*"
    exit 1
}

# The comment block at the head of a script, below SPDX, is its manual.
usage() {
    sed -n '3,/^[^#]/ { /^#/ s/^# \{0,1\}//p }' "$0"
}

# step LABEL COMMAND...: says what is going on, every ten seconds that it still
# is, and how long it took. The command's output is shown only if it fails.
step() {
    local label=$1 start=$SECONDS status=0 log ticker
    shift
    printf '%s ... ' "$label" >&2
    log=$(mktemp)
    exec {step_log}<>"$log"
    rm "$log" # the descriptor keeps it, and nothing is left behind
    # The sleep may outlive us and must not keep a reader of our output.
    (while sleep 10 >&- 2>&- && kill -0 $$; do
        printf '%d s ... ' $((SECONDS - start)) >&2
    done) {step_log}>&- &
    ticker=$!
    "$@" >&"$step_log" 2>&1 </dev/null {step_log}>&- || status=$?
    kill "$ticker" 2>/dev/null
    wait "$ticker" 2>/dev/null || true
    if ((status == 0)); then
        printf 'done (%d s)\n' $((SECONDS - start)) >&2
    else
        printf 'FAILED (status %d)\n' "$status" >&2
        tail -n 80 "/dev/fd/$step_log" >&2
    fi
    exec {step_log}>&-
    return "$status"
}

# apt_suites SUITE...: sets APT_SUITES to options with which apt knows these suites
# of its Debian mirror and no others; those that it is configured with stay as
# they are. Its lists have to be read first (apt-get update).
apt_suites() {
    local site codename state
    codename=$(. /etc/os-release && echo "${VERSION_CODENAME-}")
    # shellcheck disable=SC2016 # a format of apt-get
    site=$(apt-get indextargets --format '$(CODENAME) $(COMPONENT) $(REPO_URI)' |
        awk -v c="$codename" '$1 == c && $2 == "main" { print $3; exit }')
    [ -n "$site" ] || die "apt has no Debian mirror configured for $codename"
    state=$MXGPU_CACHE/apt-${*: -1}
    mkdir -p "$state/lists/partial"
    printf 'Types: deb\nURIs: %s\nSuites: %s\nComponents: main\nSigned-By: %s\n' \
        "$site" "$*" /usr/share/keyrings/debian-archive-keyring.gpg \
        >"$state/suites.sources"
    # shellcheck disable=SC2034
    APT_SUITES=(
        -o "Dir::Etc::SourceList=$state/suites.sources"
        -o "Dir::Etc::SourceParts=/dev/null"
        -o "Dir::State::Lists=$state/lists"
        -o "Dir::Cache::pkgcache=" -o "Dir::Cache::srcpkgcache="
        -o "APT::Sandbox::User=root")
}

# with_lock NAME COMMAND...: one at a time on this machine and account.
with_lock() {
    local lock=$MXGPU_CACHE/$1.lock
    shift
    mkdir -p "$MXGPU_CACHE"
    (
        flock 9
        "$@" 9>&-
    ) 9>"$lock"
}

# build_option NAME: its value in build/.
build_option() {
    python3 - "$MXGPU_TOP/build/meson-info/intro-buildoptions.json" "$1" <<'END'
import json, sys
with open(sys.argv[1], encoding="utf-8") as f:
    print({option["name"]: option["value"] for option in json.load(f)}
          [sys.argv[2]])
END
}

# configure OPTION...: makes build/, with these options of meson; one that is
# there stays as it is, but for where it is installed to.
configure() {
    local build=$MXGPU_TOP/build
    if [ ! -e "$build/build.ninja" ]; then
        step "configure" /usr/bin/meson setup "$build" "$MXGPU_TOP" \
            --prefix="$build/install" --libdir=lib "$@"
    elif [ "$(build_option prefix)" != "$build/install" ]; then
        step "configure for build/install" /usr/bin/meson configure "$build" \
            --prefix="$build/install" --libdir=lib
    fi
}

# configure_all: the same with all interpreters, which tests compare; also where
# scripts/demo has made build/ with those that it needs.
configure_all() {
    local build=$MXGPU_TOP/build
    configure || return
    [ "$(build_option simt_isa)" != native ] ||
        step "configure for all interpreters" /usr/bin/meson configure \
            "$build" -Dsimt_isa=all
}

# build_all TARGET...: configures, builds targets of ninja (all: everything but
# QEMU) in build/, and leaves the install tree in build/install.
build_all() {
    configure || return
    step "build" ninja -C "$MXGPU_TOP/build" "$@" || return
    step "install to build/install" /usr/bin/meson install \
        -C "$MXGPU_TOP/build" --no-rebuild
}

# build_installed: what is installed and the samples, without tests.
build_installed() {
    local targets
    configure || return
    mapfile -t targets < <(/usr/bin/meson introspect --targets \
        "$MXGPU_TOP/build" | python3 -c 'import json, os, sys
for target in json.load(sys.stdin):
    for path in target["filename"]:
        path = os.path.relpath(path, sys.argv[1])
        if target["installed"] or path.startswith("runtime/samples/"):
            print(path)' "$MXGPU_TOP/build")
    step "build" ninja -C "$MXGPU_TOP/build" "${targets[@]}" || return
    step "install to build/install" /usr/bin/meson install \
        -C "$MXGPU_TOP/build" --no-rebuild
}

# The samples, by the names of their sources.
sample_names() {
    find "$MXGPU_TOP/runtime/samples" -maxdepth 1 -type f \
        \( -name '*.maca' -o -name '*.cpp' -o -name '*.c' \) \
        -printf '%f\n' 2>/dev/null | sed 's/\.[^.]*$//' | sort -u
}

# Those that run in a guest, which has no compiler.
guest_sample_names() {
    sample_names | grep -vx runtimeCompile
}

sample_path() {
    echo "$MXGPU_TOP/build/runtime/samples/$1"
}

# sample_options NAME: of run-guest, a line each: what it needs beside itself.
sample_options() {
    local path driver
    path=$(sample_path "$1")
    [ ! -e "$path.fatbin" ] || printf '%s\n' --file "$path.fatbin"
    # A second process needs a second device; the loader of Vulkan, a driver.
    case ${path##*/} in
    ipc*) printf '%s\n' --gpus 2 ;;
    vulkan*)
        for driver in /usr/share/vulkan/icd.d/lvp_icd*.json; do
            printf '%s\n' --file "$driver" --file "$(sed -n \
                's/.*"library_path": "\(.*\)".*/\1/p' "$driver")"
        done ;;
    esac
}

# run_sample NAME [OPTION]...: in the guest.
run_sample() {
    local name=$1 options
    shift
    mapfile -t options < <(sample_options "$name")
    "$MXGPU_TOP/scripts/run-guest" --timeout 300 "${options[@]}" "$@" \
        -- "$(sample_path "$name")" </dev/null
}
