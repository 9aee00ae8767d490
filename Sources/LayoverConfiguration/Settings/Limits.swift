/// Nothing in the proxy may grow without one of these.
package struct Limits: Sendable, Hashable {
    /// Most clients that wait on their connection at the same time. Default: 1024.
    package var heldClients = 1024
    /// Most entries of the pending set. Default: 100 000.
    package var entries = 100_000
    /// Bytes of a body that stay in memory; more goes to a file. Default: 64 KiB.
    package var bodyInMemory = 64 << 10
    /// Most bytes of a body that are captured; a longer one cannot be sent again. Default: 64 MiB.
    package var bodyMax = 64 << 20
    /// Most bytes of all body files. Default: 1 GiB.
    package var spoolTotal = 1 << 30
    /// Most bytes of the head of a request or a response. Default: 64 KiB.
    package var headerBytes = 64 << 10
    /// Most attempts that go on without a client; when there are more, the oldest ends. Default: 1024.
    package var unattended = 1024
    /// Most responses of the cache that are refreshed at the same time. Default: 64.
    package var cacheRefreshes = 64
    /// Most client connections; a stream of HTTP/2 counts as one too. Default: 10 000.
    package var connections = 10_000
    /// Most bytes of responses that wait for clients that speak HTTP/2. Default: 256 MiB.
    package var unsentTotal = 256 << 20
    /// Most attempts in flight for one origin before replays wait. Fresh requests count and never
    /// wait. Default: 64.
    package var perOriginAttempts = 64
}
