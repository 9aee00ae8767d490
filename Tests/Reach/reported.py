#!/usr/bin/python3 -B
"""Prints what the page of a host has reported to the origin, past all proxies: reported.py HOST. Nothing where nothing came."""
import json
import sys
import urllib.request

opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
try:
    print(json.load(opener.open("http://control--none.reach.test/reported", timeout=1)).get(sys.argv[1], ""))
except OSError:
    pass
