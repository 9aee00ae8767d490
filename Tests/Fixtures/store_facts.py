#!/usr/bin/python3
"""What lies in a store that nobody has open, as JSON: `store_facts.py DATABASE SPOOL`."""

import json
import os
import sqlite3
import sys

database = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
named = {table: {name for name, in database.execute(f"SELECT bodyFile FROM {table} WHERE bodyFile IS NOT NULL")}
         for table in ("request", "answer")}
# `owner` says whose folder it is.
files = set(os.listdir(sys.argv[2])) - {"owner"} if os.path.isdir(sys.argv[2]) else set()
everything = named["request"] | named["answer"]
print(json.dumps({
    "integrity": database.execute("PRAGMA integrity_check").fetchone()[0],
    "states": dict(database.execute("SELECT state, count(*) FROM ticket GROUP BY state")),
    "requestRows": database.execute("SELECT count(*) FROM request").fetchone()[0],
    "leftFiles": sorted(files - everything),
    "missingFiles": sorted(everything - files),
}))
