import LayoverEngine
import LayoverOrigin
import LayoverTLS
import LayoverTestSupport
import Testing

@testable import LayoverUpstream

/// The path that makes the attempts of a test.
enum Path: String, Sendable, CaseIterable {
    /// libcurl's transfers.
    case libcurl
    /// The exchange of our own over sockets that libcurl dialled.
    case direct

    @TaskLocal static var current = Path.libcurl
    /// `DirectOptions.idleForUnrepeatableMax` of the rigs that are made. So long that a busy machine keeps each connection for a POST.
    @TaskLocal static var idleForUnrepeatableMax = Duration.seconds(60)
    /// `idleWithoutClientMax` of both paths of the rigs that are made. So long that a busy machine keeps each connection of no client.
    @TaskLocal static var idleWithoutClientMax = Duration.seconds(60)
    /// `DirectOptions.pieceByteCountMax` of the rigs that are made.
    @TaskLocal static var pieceByteCountMax = 64 << 10

    func upstream(dialledBy libcurl: LibcurlUpstream, _ options: UpstreamOptions) throws -> any Upstream {
        guard self == .direct else { return libcurl }
        var direct = DirectOptions(addressGuard: options.addressGuard)
        direct.tls = try TLSClientContext(trustFile: libcurl.trustFile)
        direct.idleConnectionAgeMax = options.idleConnectionAgeMax
        direct.idleForUnrepeatableMax = Self.idleForUnrepeatableMax
        direct.idleWithoutClientMax = Self.idleWithoutClientMax
        direct.pieceByteCountMax = Self.pieceByteCountMax
        direct.idleConnectionCountMax = options.idleConnectionCountMax
        direct.bytesOutstandingMax = options.bytesOutstandingMax
        direct.continueWaitMax = options.continueWaitMax
        direct.endWithheldMax = options.endWithheldMax
        direct.requestPauseMax = options.requestPauseMax
        direct.responseLimits = options.responseLimits
        return DirectUpstream(dialler: libcurl, options: direct)
    }
}

/// Runs each test once for each of these paths, and ends the servers and rigs that it has started.
struct OnPaths: SuiteTrait, TestTrait, TestScoping {
    let paths: [Path]
    let isRecursive = true

    func scopeProvider(for test: Test, testCase: Test.Case?) -> OnPaths? { testCase == nil ? nil : self }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        for path in paths {
            await Path.$current.withValue(path) {
                do {
                    try await TestServers.ending { try await function() }
                } catch {
                    Issue.record(error, "on the path \(path)")
                }
            }
        }
    }
}

extension Trait where Self == OnPaths {
    /// What is true of one path must be true of the other.
    static var bothPaths: OnPaths { OnPaths(paths: Path.allCases) }
    static var directPath: OnPaths { OnPaths(paths: [.direct]) }
}
