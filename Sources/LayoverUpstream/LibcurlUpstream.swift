import CCurl
import Glibc
package import LayoverEngine
package import NIOCore

/// Reaches servers by libcurl: one thread with one multi handle for each event loop.
///
/// Where to look: `Worker/` is the thread, its mailbox and its descriptors; `Transfer/` one easy handle and
/// what happens on it; `Resolver/` finds the addresses of names for all workers; `Evidence/` turns result codes
/// and progress into failures.
package final class LibcurlUpstream: Upstream {
    private let options: UpstreamOptions
    private let trust: TrustBundle
    private let resolver: NameResolver

    /// - Throws: `UpstreamError` when libcurl cannot be used or `caFile` cannot be read.
    package convenience init(options: UpstreamOptions) throws {
        try self.init(
            options: options,
            resolver: NameResolver(
                limits: ResolverLimits(nameAgeMax: options.nameAgeMax), lookUp: SystemLookup.lookUp))
    }

    init(options: UpstreamOptions, resolver: NameResolver) throws {
        guard LibcurlGlobal.isReady else {
            throw UpstreamError(code: .libcurlUnusable, context: "libcurl cannot be initialised.")
        }
        self.options = options
        self.resolver = resolver
        trust = try TrustBundle(caFile: options.caFile)
    }

    package var blocksForPermits: Bool { true }

    /// PEM file of the certificates that are trusted: the system's and those of `caFile`. Readable as long as this lives. Nil: the TLS
    /// library uses the certificates that it finds.
    package var trustFile: String? { trust.path }

    package func makeWorker(
        for eventLoop: any EventLoop, batchEnded: @escaping @Sendable () -> Void
    ) throws -> any UpstreamWorker {
        try Worker(
            options: options, trust: trust, resolver: resolver, eventLoop: eventLoop,
            batchEnded: batchEnded)
    }
}

/// The state of libcurl that belongs to the whole process.
enum LibcurlGlobal {
    /// Initialises libcurl once (curl_global_init(3)); false when it cannot be used.
    ///
    /// SIGPIPE is ignored for the process: OpenSSL writes without MSG_NOSIGNAL, and `NOSIGNAL` tells
    /// libcurl to leave signals alone.
    static let isReady: Bool = {
        signal(SIGPIPE, SIG_IGN)
        return curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
    }()
}

/// Why no upstream or worker could be made. Attempts never throw: they end with a `Failure`.
package struct UpstreamError: Error, Sendable, CustomStringConvertible {
    package enum Code: Sendable { case libcurlUnusable, caFileUnreadable, outOfResources }

    package var code: Code
    /// What we were doing, as a complete sentence that is safe to show.
    package var context: String
    /// errno(3), when the system was the cause.
    package var osError: Int32?

    /// For people who start the proxy.
    package var description: String {
        osError.map { "\(context) The system says: \(String(cString: strerror($0)))." } ?? context
    }
}
