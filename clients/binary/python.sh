#!/usr/bin/env bash
# An optimised Python for the binary, built in a Debian 11 so that it runs with an old C library (glibc 2.28, of RHEL 8) and
# any newer one: into .cache/binary/python, once. Needs root, mmdebstrap, and Debian's mirror with the sources of Python.
set -euo pipefail
cd "$(dirname "$0")/../.."
prefix=$PWD/.cache/binary/python
chroot=$PWD/.cache/binary/debian11
sources=$PWD/.cache/binary/sources
[ -x "$prefix/bin/python3.11" ] && exit 0
export DEBIAN_FRONTEND=noninteractive
mirror=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(ORIGIN)' |
    awk '$3 == "Debian" && $2 !~ /security|updates|backports/ { print $1; exit }')
if ! command -v mmdebstrap >/dev/null || ! command -v dpkg-source >/dev/null; then
    apt-get update -q
    apt-get install --yes --no-install-recommends -q mmdebstrap dpkg-dev
fi

if ! ls "$sources"/python3.11-*/configure >/dev/null 2>&1; then
    mkdir -p "$sources/lists/partial"
    cat >"$sources/source.sources" <<SOURCES
Types: deb-src
URIs: $mirror
Suites: bookworm
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
SOURCES
    options=(-o Dir::Etc::SourceList="$sources/source.sources" -o Dir::Etc::SourceParts="$sources/none"
        -o Dir::State::Lists="$sources/lists" -o APT::Sandbox::User=root)
    apt-get "${options[@]}" update -q
    (cd "$sources" && apt-get "${options[@]}" source -q python3.11)
fi

if [ ! -x "$chroot/usr/bin/gcc" ]; then
    rm -rf "$chroot"
    mmdebstrap --quiet --variant=minbase \
        --include=gcc,libc6-dev,make,libssl-dev,zlib1g-dev,libffi-dev,libbz2-dev,liblzma-dev,libexpat1-dev,pkg-config \
        bullseye "$chroot" "$mirror"
fi

# The same path inside and outside: Python keeps its own.
mkdir -p "$chroot$prefix" "$chroot/build"
rm -rf "$chroot/build" && mkdir "$chroot/build"
cp -a "$sources"/python3.11-*/. "$chroot/build/"
# Debian's patch of this module includes what only Python itself may, and does not say that it is part of it.
sed -i '1i #define Py_BUILD_CORE_MODULE 1' "$chroot/build/Modules/pyexpat.c"
# glibc 2.29 has newer versions of these, which differ in how they report errors, and Python asks for none of that.
case $(uname -m) in
x86_64) first=2.2.5 ;;
*) first=2.17 ;; # of aarch64
esac
for name in exp exp2 log log2 pow; do
    echo "__asm__(\".symver $name,$name@GLIBC_$first\");"
done >"$chroot/build/old_names.h"
# What a broker does much of. The tests of Python that fail there (it has no /proc) are none of our business.
cat >"$chroot/build/profile_task.py" <<'PROFILE'
import unittest
modules = ["json", "re", "struct", "dict", "list", "set", "bytes", "generators", "collections", "functools", "memoryview",
           "coroutines", "class", "exceptions", "itertools", "heapq", "with", "string", "int", "long", "tuple", "property"]
for name in modules:
    unittest.main(f"test.test_{name}", argv=["test", "-q"], exit=False)
PROFILE
cat >"$chroot/build/build.sh" <<BUILD
set -e
cd /build
# sem_clockwait is of glibc 2.30: without it Python takes sem_timedwait.
ac_cv_func_sem_clockwait=no ./configure --quiet --prefix=$prefix --enable-shared --enable-optimizations --without-ensurepip --disable-test-modules \
    --with-system-ffi --with-system-expat LDFLAGS=-Wl,-rpath,$prefix/lib CFLAGS="-include /build/old_names.h"
make -s -j${JOBS:-$(nproc)} PROFILE_TASK=/build/profile_task.py profile-opt
make -s altinstall
# A module that cannot be built is left out without an error.
$prefix/bin/python3.11 -c "import bz2, ctypes, hashlib, lzma, pyexpat, ssl, uuid, zlib, multiprocessing.connection"
for library in libssl.so.1.1 libcrypto.so.1.1 libffi.so.7 libbz2.so.1.0 liblzma.so.5 libz.so.1 libexpat.so.1 libstdc++.so.6 libgcc_s.so.1; do
    cp -L \$(ls /usr/lib/*/\$library /lib/*/\$library 2>/dev/null | head -1) $prefix/lib/
done
BUILD
chroot "$chroot" bash /build/build.sh
mkdir -p "$(dirname "$prefix")"
cp -a "$chroot$prefix" "$prefix"
"$prefix/bin/python3.11" -VV
