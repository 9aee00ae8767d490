"""What a target may import besides the standard library: the directions of the house.

`docs/architecture.md` draws them. Every target has a line here, and one that needs another module gets it here first, in sight of a review.
Proxy, Admin, Upstream, Store, Cache and Monitor never import one another; only `layover` knows them all.
"""

import re

IMPORT = re.compile(r"^[ \t]*(?:@\w+(?:\([^)\n]*\))?\s+)*(?:public |package |internal |private |fileprivate )?import\s+"
                    r"(?:struct |class |enum |protocol |func |let |var |typealias )?(\w+)", re.M)
# Targets with Swift files; a system library has a module map only.
TARGET = re.compile(r"\.(?:target|executableTarget)\(\s*name:\s*\"(\w+)\"")

IMPORTS = {
    "Retry": {"Synchronization"},
    "LayoverText": {"Glibc"},
    "LayoverSystem": {"CCrypt", "COpenSSL", "Glibc", "Synchronization"},
    "LayoverHTTP": {"LayoverText", "NIOCore"},
    "LayoverCore": {"LayoverText", "Retry"},
    "LayoverReplay": {"FoundationEssentials", "LayoverHTTP", "LayoverText", "NIOCore"},
    "LayoverConfiguration": {"Foundation", "LayoverCore", "LayoverSystem", "LayoverText", "Retry"},
    "LayoverTLS": {"COpenSSL", "Glibc", "LayoverCore", "LayoverSystem", "LayoverText", "NIOCore", "NIOPosix", "Synchronization"},
    "LayoverTrust": {"Foundation", "LayoverSystem", "LayoverTLS", "LayoverText", "Synchronization"},
    "LayoverEngine": {
        "Dispatch", "Foundation", "Glibc", "LayoverCore", "LayoverHTTP", "LayoverText", "Logging", "NIOCore", "NIOPosix",
        "Synchronization"},
    "LayoverOrigin": {
        "Glibc", "LayoverCore", "LayoverEngine", "LayoverHTTP", "LayoverTLS", "LayoverText", "NIOCore", "Synchronization"},
    "LayoverUpstream": {
        "CCurl", "Dispatch", "Glibc", "LayoverCore", "LayoverEngine", "LayoverHTTP", "LayoverText", "NIOCore", "Synchronization"},
    "LayoverMonitor": {
        "CLinux", "Glibc", "LayoverCore", "LayoverEngine", "LayoverHTTP", "Logging", "NIOCore", "ServiceLifecycle",
        "Synchronization"},
    "LayoverStore": {
        "Dispatch", "Foundation", "FoundationEssentials", "GRDB", "GRDBSQLite", "Glibc", "LayoverCore", "LayoverEngine",
        "LayoverHTTP", "LayoverSystem", "LayoverText", "Logging", "NIOCore", "Synchronization"},
    "LayoverCache": {
        "Foundation", "GRDB", "Glibc", "LayoverCore", "LayoverEngine", "LayoverHTTP", "LayoverSystem", "LayoverText", "Logging",
        "NIOCore", "NIOPosix", "Synchronization"},
    "LayoverProxy": {
        "CLinux", "CZlib", "Glibc", "LayoverCore", "LayoverEngine", "LayoverHTTP", "LayoverOrigin",
        "LayoverReplay", "LayoverSystem", "LayoverTLS", "LayoverText", "Logging", "NIOCore", "NIOHPACK", "NIOHTTP2", "NIOPosix",
        "Synchronization"},
    "LayoverAdmin": {
        "Foundation", "FoundationEssentials", "Glibc", "HTTPTypes", "Hummingbird", "HummingbirdCore", "LayoverCore",
        "LayoverEngine", "LayoverHTTP", "LayoverSystem", "LayoverText", "Logging", "NIOCore", "NIOHTTP1", "NIOHTTPTypes",
        "ServiceLifecycle", "Synchronization"},
    "LayoverTestSupport": {
        "COpenSSL", "Dispatch", "Foundation", "Glibc", "LayoverCore", "LayoverEngine", "LayoverHTTP", "Logging", "NIOCore",
        "Synchronization"},
    "layover": {
        "ArgumentParser", "CLinux", "CMimalloc", "Dispatch", "Foundation", "Glibc", "LayoverAdmin", "LayoverCache",
        "LayoverConfiguration", "LayoverCore", "LayoverEngine", "LayoverHTTP", "LayoverMonitor", "LayoverOrigin",
        "LayoverProxy", "LayoverStore", "LayoverSystem", "LayoverTLS", "LayoverText", "LayoverTrust", "LayoverUpstream",
        "Logging", "NIOCore", "NIOHTTP1", "NIOPosix", "ServiceLifecycle", "Synchronization", "UnixSignals"},
}


def breaches(tree, rules=None):
    rules = IMPORTS if rules is None else rules
    package = tree.texts.get("Package.swift", "")
    declared = {match[1]: package[:match.start(1)].count("\n") + 1 for match in TARGET.finditer(package)}
    for target, line in declared.items():
        if target not in rules:
            yield "Package.swift", line, f"{target} has no rule of what it may import (scripts/house/imports.py)"
    for target in sorted({file.target for file in tree.sources} - rules.keys() - declared.keys()):
        yield f"Sources/{target}", 1, "a folder that is no target of Package.swift, and has no rule of what it may import"
    for target in sorted(rules.keys() - declared.keys()):
        yield "scripts/house/imports.py", 1, f"a rule for {target}, which is no target"
    for file in tree.sources + tree.support:
        if file.target in rules:
            yield from foreign(file, rules[file.target])


def foreign(file, allowed):
    for match in IMPORT.finditer(file.code):
        if match[1] not in allowed:
            yield file.name, file.line(match.start(1)), f"{file.target} may not import {match[1]}"
