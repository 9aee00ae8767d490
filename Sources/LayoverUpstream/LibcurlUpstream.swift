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
