#!/bin/sh
# Makes a Firefox profile trust what the machine trusts here, as an administrator's policy would: firefox-trust.sh PROFILE.
set -eu
certutil -N -d "sql:$1" --empty-password
certutil -A -d "sql:$1" -t C,, -n reach -i "$REACH_CA"
[ -z "${LAYOVER_CA:-}" ] || certutil -A -d "sql:$1" -t C,, -n layover -i "$LAYOVER_CA"
