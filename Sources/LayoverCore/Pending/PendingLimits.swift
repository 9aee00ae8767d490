/// Limits on the pending set.
package struct PendingLimits: Sendable, Hashable {
    /// Most entries. When it is full we refuse to park, and the client gets a 503; an older entry is
    /// never evicted to make room. Default: 100 000.
    package var entryCountMax = 100_000
    /// Most clients that wait on their connection. Default: 1 024.
    package var heldClientCountMax = 1024
    /// Most attempts that go on without a client. When there are more, the oldest ends. Default: 1 024.
    package var unattendedCountMax = 1024
    /// Most attempts under way to one origin before replays wait for their turn. Default: 64.
    package var perOriginAttemptCountMax = 64
    /// Final entries that are remembered, the newest. Default: 10 000.
    package var rememberedCountMax = 10_000

    /// Origins without entries whose shut gate is remembered. Default: 10 000.
    package var rememberedOriginCountMax = 10_000

    package init() {}
}
