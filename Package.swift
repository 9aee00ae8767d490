// swift-tools-version:6.2
import Foundation
import PackageDescription

// The release binary runs on mimalloc where libmimalloc-dev is installed (`make` installs it), and on
// the C library's malloc otherwise: slower, never wrong.
let hasMimalloc = FileManager.default.fileExists(atPath: "/usr/include/mimalloc.h")

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

// Settings of the targets that the simulation runs, and of readers of certificates: most of the tests' time is spent in them
// (docs/decisions/0099-tests-run-optimized-code.md). Not `Retry`: a package with such flags cannot be a dependency.
let optimized: [SwiftSetting] = strict + [
    .unsafeFlags(["-O", "-assert-config", "Debug"], .when(configuration: .debug))
]

// The classes of the fast path are confined to one thread each; the dynamic exclusivity check costs
// several percent there and can find nothing that the confinement does not already rule out.
let confined: [SwiftSetting] = optimized + [
    .unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release))
]

let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let nioEmbedded = Target.Dependency.product(name: "NIOEmbedded", package: "swift-nio")
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let nioHTTP2 = Target.Dependency.product(name: "NIOHTTP2", package: "swift-nio-http2")
let nioHPACK = Target.Dependency.product(name: "NIOHPACK", package: "swift-nio-http2")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let lifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let signals = Target.Dependency.product(name: "UnixSignals", package: "swift-service-lifecycle")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
let sqlite = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let sqliteBinding = Target.Dependency.product(name: "GRDBSQLite", package: "GRDB.swift")
let arguments = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")

// The files of the dashboard are in the binary, each as it is.
let dashboardFiles: [Resource] = [
    "index.html", "login.html", "style.css", "icon.svg",
    "api.js", "app.js", "banner.js", "bars.js", "commands.js", "curl.js", "detail.js", "dialogs.js", "filter.js",
    "guard.js", "keys.js", "lists.js", "plot.js", "selection.js", "state.js", "stream.js", "table.js", "text.js",
    "theme.js", "times.js",
].map { .embedInCode("Dashboard/Files/\($0)") }

let package = Package(
    name: "layover",
    products: [
        .library(name: "Retry", targets: ["Retry"]),
        .executable(name: "layover", targets: ["layover"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        .target(name: "Retry", swiftSettings: strict),
        .systemLibrary(
            name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CCrypt", providers: [.apt(["libcrypt-dev"])]),
        .systemLibrary(name: "CLinux"),
        .systemLibrary(
            name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .target(name: "LayoverText", swiftSettings: optimized),
        .target(name: "LayoverSystem", dependencies: ["CCrypt", "COpenSSL"], swiftSettings: optimized),
        .target(name: "LayoverHTTP", dependencies: ["LayoverText", nioCore], swiftSettings: confined),
        .target(name: "LayoverCore", dependencies: ["LayoverText", "Retry"], swiftSettings: optimized),
        .target(
            name: "LayoverConfiguration",
            dependencies: ["LayoverCore", "LayoverSystem", "LayoverText", "Retry"],
            swiftSettings: strict),
        .target(
            name: "LayoverEngine",
            dependencies: ["LayoverCore", "LayoverHTTP", "LayoverText", "Retry", nioCore, nioPosix, logging],
            swiftSettings: confined),
        .target(
            name: "LayoverTLS",
            dependencies: ["COpenSSL", "LayoverCore", "LayoverSystem", "LayoverText", nioCore, nioPosix],
            swiftSettings: confined),
        .target(
            name: "LayoverTrust", dependencies: ["LayoverSystem", "LayoverText", "LayoverTLS"], swiftSettings: optimized),
        .target(
            name: "LayoverOrigin",
            dependencies: ["LayoverTLS", "LayoverEngine", "LayoverCore", "LayoverHTTP", "LayoverText", nioCore, nioPosix],
            swiftSettings: confined),
        .target(
            name: "LayoverUpstream",
            dependencies: ["CCurl", "LayoverEngine", "LayoverCore", "LayoverHTTP", "LayoverText", nioCore, logging],
            swiftSettings: confined),
        .target(
            name: "LayoverMonitor",
            dependencies: [
                "CLinux", "LayoverEngine", "LayoverCore", "LayoverHTTP", nioCore, logging, lifecycle,
            ],
            swiftSettings: strict),
        .target(
            name: "LayoverStore",
            dependencies: [
                "LayoverEngine", "LayoverCore", "LayoverSystem", "LayoverHTTP", "LayoverText", sqlite, sqliteBinding, nioCore, logging,
            ],
            swiftSettings: strict),
        .target(
            name: "LayoverCache",
            dependencies: [
                "LayoverEngine", "LayoverCore", "LayoverSystem", "LayoverHTTP", "LayoverText", sqlite, nioCore, nioPosix, logging,
            ],
            swiftSettings: strict),
        .target(name: "LayoverReplay", dependencies: ["LayoverHTTP", "LayoverText", nioCore], swiftSettings: optimized),
        .target(
            name: "LayoverProxy",
            dependencies: [
                "CLinux", "CZlib", "LayoverEngine", "LayoverCore", "LayoverSystem", "LayoverHTTP", "LayoverOrigin", "LayoverReplay",
                "LayoverText", "LayoverTLS", nioCore, nioPosix, nioHTTP2, nioHPACK, logging, lifecycle,
            ],
            swiftSettings: confined),
        .target(
            name: "LayoverAdmin",
            dependencies: [
                "LayoverEngine", "LayoverCore", "LayoverSystem", "LayoverHTTP", "LayoverText", hummingbird, nioCore, nioHTTP1, logging,
                lifecycle,
            ],
            resources: [.embedInCode("openapi.yaml")] + dashboardFiles,
            swiftSettings: strict),
        .executableTarget(
            name: "layover",
            dependencies: [
                "CLinux", "LayoverConfiguration", "LayoverCore", "LayoverSystem", "LayoverEngine", "LayoverHTTP", "LayoverText",
                "LayoverUpstream", "LayoverOrigin", "LayoverTLS", "LayoverTrust", "LayoverMonitor", "LayoverStore", "LayoverCache", "LayoverProxy", "LayoverAdmin", nioCore, nioPosix,
                nioHTTP1, logging,
                lifecycle, signals, arguments,
            ] + (hasMimalloc ? ["CMimalloc"] : []),
            swiftSettings: strict + (hasMimalloc ? [.define("FAST_ALLOCATOR")] : [])),
        .target(
            name: "LayoverTestSupport",
            dependencies: ["LayoverEngine", "LayoverCore", "LayoverHTTP", "COpenSSL", nioCore, nioPosix],
            path: "Tests/LayoverTestSupport",
            swiftSettings: strict),
        .testTarget(name: "RetryTests", dependencies: ["Retry", "LayoverTestSupport"]),
        .testTarget(name: "LayoverTextTests", dependencies: ["LayoverText", "LayoverTestSupport"]),
        .testTarget(name: "LayoverHTTPTests", dependencies: ["LayoverHTTP", "LayoverTestSupport", nioCore, nioEmbedded, nioHTTP1]),
        .testTarget(name: "LayoverSystemTests", dependencies: ["LayoverSystem", "COpenSSL", "LayoverTestSupport"]),
        .testTarget(name: "LayoverCoreTests", dependencies: ["LayoverCore", "LayoverTestSupport", "Retry"]),
        .testTarget(name: "LayoverConfigurationTests", dependencies: ["LayoverConfiguration", "LayoverCore", "Retry"]),
        .testTarget(name: "LayoverEngineTests", dependencies: ["LayoverEngine", "LayoverHTTP", "LayoverTestSupport", nioCore, nioEmbedded]),
        .testTarget(
            name: "LayoverUpstreamTests",
            dependencies: ["LayoverUpstream", "LayoverOrigin", "LayoverTLS", "LayoverEngine", "LayoverTestSupport", nioPosix, nioEmbedded]),
        .testTarget(name: "LayoverTrustTests", dependencies: ["LayoverTrust", "LayoverTLS", "LayoverTestSupport"]),
        .testTarget(
            name: "LayoverTLSTests", dependencies: ["LayoverTLS", "COpenSSL", "LayoverTestSupport", nioCore, nioPosix, nioEmbedded]),
        .testTarget(name: "LayoverMonitorTests", dependencies: ["LayoverMonitor", "LayoverTestSupport"]),
        .testTarget(
            name: "LayoverStoreTests",
            dependencies: [
                "LayoverStore", "LayoverEngine", "LayoverCore", "LayoverHTTP", "LayoverTestSupport", sqlite, sqliteBinding, nioCore,
                nioPosix, logging,
            ]),
        .testTarget(
            name: "LayoverCacheTests",
            dependencies: [
                "LayoverCache", "LayoverEngine", "LayoverCore", "LayoverHTTP", "LayoverTestSupport", sqlite, nioCore,
                nioPosix, logging,
            ]),
        .testTarget(name: "LayoverReplayTests", dependencies: ["LayoverReplay", "LayoverHTTP", "LayoverTestSupport", nioCore]),
        .testTarget(
            name: "LayoverProxyTests",
            dependencies: [
                "LayoverProxy", "LayoverSystem", "LayoverCache", "LayoverTLS", "LayoverTestSupport", nioEmbedded, nioHTTP2, nioHPACK,
            ]),
        // Optimized, because it lives through thousands of seeds.
        .testTarget(
            name: "LayoverSimulationTests",
            dependencies: [
                "LayoverProxy", "LayoverEngine", "LayoverCore", "LayoverHTTP", "Retry", "LayoverTestSupport",
                nioCore, nioPosix, nioEmbedded, logging,
            ],
            swiftSettings: [.unsafeFlags(["-O"], .when(configuration: .debug))]),
        .testTarget(
            name: "LayoverAdminTests",
            dependencies: ["LayoverAdmin", "LayoverEngine", "LayoverTestSupport", nioEmbedded, nioPosix]),
        .testTarget(
            name: "LayoverCommandTests",
            dependencies: ["layover", "LayoverAdmin", "LayoverEngine", "LayoverTestSupport", nioPosix]),
        .testTarget(name: "LayoverEndToEndTests", dependencies: ["LayoverTestSupport", "layover"]),
    ],
    swiftLanguageModes: [.v6]
)

if hasMimalloc { package.targets.append(.systemLibrary(name: "CMimalloc", providers: [.apt(["libmimalloc-dev"])])) }

// `LAYOVER_ONLY=LayoverCoreTests,LayoverProxyTests swift test` builds these test targets and what they
// need, and nothing else. `make mutants` builds the simulation alone in this way.
if let only = ProcessInfo.processInfo.environment["LAYOVER_ONLY"], !only.isEmpty {
    var needed = Set(only.split(separator: ",").map(String.init))
    var unread = Array(needed)
    while let name = unread.popLast() {
        for dependency in package.targets.first(where: { $0.name == name })?.dependencies ?? [] {
            let dependencyName: String? =
                switch dependency {
                case .targetItem(let name, _), .byNameItem(let name, _): name
                default: nil
                }
            if let dependencyName, needed.insert(dependencyName).inserted { unread.append(dependencyName) }
        }
    }
    package.targets.removeAll { !needed.contains($0.name) }
    package.products.removeAll { $0.name == "layover" && !needed.contains("layover") || $0.name == "Retry" && !needed.contains("Retry") }
}
