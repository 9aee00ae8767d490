#!/bin/sh
# Installs the Debian packages that are missing for the parts named: build, test, bench, container, package, browser, reach.
#
# As root it installs through apt. Otherwise it prints the exact command and stops. When nothing is
# missing it changes nothing and needs no network, so it is run before every build.
set -eu

build_packages="libcurl4-openssl-dev libssl-dev libsqlite3-dev zlib1g-dev libcrypt-dev libmimalloc-dev pkg-config git ca-certificates python3"
# The real clients of the end-to-end tests, and what their origins are made of.
test_packages="curl git wget openssl libnss3-tools iproute2 nodejs node-undici python3 python3-pip python3-venv python3-requests strace faketime valgrind binutils"
# The browser of the tests of the dashboard, and one for pages without scripts.
test_packages="$test_packages chromium chromium-driver w3m"
# Parent proxies. squid-openssl is the Squid that can intercept TLS; it takes the place of squid.
test_packages="$test_packages squid-openssl tinyproxy"
bench_packages="nginx squid-openssl haproxy tinyproxy wrk curl openssl python3 python3-venv"
container_packages="buildah debootstrap"
# What builds and tries the Debian package.
package_packages="dpkg-dev lintian debootstrap groff systemd prometheus curl python3 python3-yaml"
# A second browser, and Java for the checker of HTML.
browser_packages="firefox-esr default-jre-headless"
# The clients of the reach test that are not among the others.
reach_packages="wget apt unzip cargo maven golang-go default-jdk-headless ruby php-cli php-curl libwww-perl liblwp-protocol-https-perl"
reach_packages="$reach_packages firefox-esr libnss3-tools openssl iproute2 git curl python3-venv"

installed() {
    status=$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null) || return 1
    [ "$status" = installed ]
}

# pkg-config is the program, whichever of pkg-config and pkgconf brought it.
present() {
    case "$1" in
        pkg-config) command -v pkg-config >/dev/null 2>&1 ;;
        *) installed "$1" ;;
    esac
}

wanted=""
for part in "$@"; do
    case "$part" in
        build) wanted="$wanted $build_packages" ;;
        test) wanted="$wanted $test_packages" ;;
        bench) wanted="$wanted $bench_packages" ;;
        container) wanted="$wanted $container_packages" ;;
        package) wanted="$wanted $package_packages" ;;
        browser) wanted="$wanted $browser_packages" ;;
        reach) wanted="$wanted $reach_packages" ;;
        *) echo "setup.sh: unknown part '$part'; use build, test, bench, container, package, browser or reach" >&2; exit 1 ;;
    esac
done

if ! command -v dpkg-query >/dev/null 2>&1; then
    echo "setup.sh: this is not Debian. Please see that these are installed:$wanted" >&2
    # What a build cannot do without can be asked for on any system.
    case " $* " in
        *" build "*)
            for library in libcurl "openssl >= 3.0"; do
                pkg-config --exists "$library" || { echo "setup.sh: pkg-config does not find $library" >&2; exit 1; }
            done ;;
    esac
    exit 0
fi

missing=""
for package in $wanted; do
    case " $missing " in *" $package "*) continue ;; esac
    present "$package" || missing="$missing $package"
done

if [ -n "$missing" ]; then
    if [ "$(id -u)" -ne 0 ]; then
        echo "Some Debian packages are missing. Please run this and start again:" >&2
        echo >&2
        echo "    sudo apt-get update && sudo apt-get install --yes --no-install-recommends$missing" >&2
        exit 1
    fi
    echo "Installing:$missing"
    # A package that brings a daemon (nginx, squid …) would start it at once on its usual port. While
    # this file says 101, apt starts nothing. One that was there before is left as it is.
    policy=/usr/sbin/policy-rc.d
    if [ ! -e "$policy" ]; then
        printf '#!/bin/sh\nexit 101\n' > "$policy"
        chmod 755 "$policy"
        trap 'rm -f "$policy"' EXIT
    fi
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    # shellcheck disable=SC2086
    apt-get install --yes -qq --no-install-recommends $missing >/dev/null
fi

case " $* " in
    *" build "*)
        if ! command -v swift >/dev/null 2>&1; then
            echo "There is no 'swift' on the PATH. Layover needs Swift 6.2 or newer: https://www.swift.org/install/linux/" >&2
            exit 1
        fi
        ;;
esac
