#!/usr/bin/env bash
# For a machine without a container engine (CI): Debian's engine and compose, started, and an image under the name that
# the Dockerfiles begin with, where no registry of images can be reached. Needs root. Harmless where all is there.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
base=debian:trixie-slim
# Where this machine gets its own Debian from.
mirror() {
    apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(ORIGIN)' |
        awk '$3 == "Debian" && $2 !~ /security|updates|backports/ { print $1; exit }'
}

missing=()
command -v dockerd >/dev/null || missing+=(docker.io iptables)
command -v mmdebstrap >/dev/null || missing+=(mmdebstrap)
if ((${#missing[@]})); then
    apt-get update -q
    apt-get install --yes --no-install-recommends -q "${missing[@]}"
fi

if ! docker info >/dev/null 2>&1; then
    mkdir -p "${TMPDIR:-/tmp}/kafkastub-engine"
    setsid dockerd --iptables=false --ip6tables=false >"${TMPDIR:-/tmp}/kafkastub-engine/dockerd.log" 2>&1 </dev/null &
    for _ in $(seq 60); do
        docker info >/dev/null 2>&1 && break
        sleep 1
    done
    docker info >/dev/null
fi

if ! docker compose version >/dev/null 2>&1; then
    # Bookworm has the old one only; the plugin of the next Debian is a static program.
    folder=$(mktemp -d)
    mkdir -p "$folder/lists/partial"
    cat >"$folder/trixie.sources" <<SOURCES
Types: deb
URIs: $(mirror)
Suites: trixie
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
SOURCES
    options=(-o Dir::Etc::SourceList="$folder/trixie.sources" -o Dir::Etc::SourceParts="$folder/none"
        -o Dir::State::Lists="$folder/lists" -o APT::Sandbox::User=root)
    apt-get "${options[@]}" update -q
    (cd "$folder" && apt-get "${options[@]}" download docker-compose && dpkg-deb -x docker-compose_*.deb .)
    mkdir -p ~/.docker/cli-plugins
    cp "$folder/usr/libexec/docker/cli-plugins/docker-compose" ~/.docker/cli-plugins/
    rm -rf "$folder"
    docker compose version
fi

if ! docker image inspect "$base" >/dev/null 2>&1 && ! timeout 60 docker pull --quiet "$base"; then
    folder=$(mktemp -d)
    mmdebstrap --quiet --variant=minbase --include=ca-certificates trixie "$folder/base.tar" "$(mirror)"
    docker import "$folder/base.tar" kafkastub-base >/dev/null
    # What this machine trusts, its containers trust.
    cp /etc/ssl/certs/ca-certificates.crt "$folder/"
    printf '%s\n' 'FROM kafkastub-base' 'COPY ca-certificates.crt /etc/ssl/certs/' \
        'ENV PIP_CERT=/etc/ssl/certs/ca-certificates.crt' >"$folder/Dockerfile"
    rm "$folder/base.tar"
    docker build --quiet --tag "$base" "$folder"
    rm -rf "$folder"
fi
