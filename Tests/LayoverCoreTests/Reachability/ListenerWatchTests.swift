import Testing

@testable import LayoverCore

/// When it is looked whether servers on this machine listen, and what is news.
struct ListenerWatchTests {
    private static let origin = Origin(scheme: .http, host: "localhost", port: 9000)
    private static let start = Timestamp.at(.seconds(100))
    private var watch = ListenerWatch()
    private var now = Self.start

    private mutating func look(_ sockets: Set<UInt64>, after wait: Duration = ListenerWatch.interval) -> [Origin] {
        now = now + wait
        return watch.looked([Self.origin: sockets], now: now)
    }

    @Test mutating func nothingIsLookedForUnlessAnOriginIsAwaited() {
        #expect(watch.nextLookAt == nil)
        watch.watch([], now: now)
        #expect(watch.nextLookAt == nil)
        watch.watch([Self.origin], now: now)
        #expect(watch.nextLookAt == now)
        #expect(watch.origins == [Self.origin])
        watch.watch([], now: now)
        #expect(watch.nextLookAt == nil)
        #expect(watch.origins == [])
    }

    @Test mutating func aNewSocketIsNewsOnce() {
        watch.watch([Self.origin], now: now)
        #expect(look([], after: .zero) == [])
        #expect(watch.nextLookAt == now + .milliseconds(50))
        #expect(look([]) == [])
        #expect(look([7]) == [Self.origin])
        #expect(look([7]) == [])
        #expect(look([]) == [])
        #expect(look([7, 8]) == [Self.origin])
        #expect(look([8]) == [])
    }

    /// A gate that a handshake shut, or a socket at another address.
    @Test mutating func socketThatListensFromTheBeginningIsNotReported() {
        watch.watch([Self.origin], now: now)
        #expect(look([7], after: .zero) == [])
        #expect(look([7]) == [])
        // Watching goes on; it does not begin anew.
        watch.watch([Self.origin], now: now)
        #expect(look([7]) == [])
        #expect(look([9]) == [Self.origin])
    }

    @Test mutating func anOriginThatIsAwaitedAgainIsWatchedAnew() {
        watch.watch([Self.origin], now: now)
        _ = look([], after: .zero)
        watch.watch([], now: now)
        watch.watch([Self.origin], now: now)
        #expect(look([7], after: .zero) == [])
    }

    @Test mutating func afterTenMinutesOnlyCanariesLook() {
        watch.watch([Self.origin], now: now)
        _ = look([], after: .zero)
        _ = look([], after: ListenerWatch.watchMax - .nanoseconds(1))
        #expect(watch.nextLookAt != nil)
        #expect(look([7], after: .nanoseconds(1)) == [Self.origin])
        #expect(watch.nextLookAt == nil)
        watch.watch([Self.origin], now: now)
        #expect(watch.nextLookAt == nil)
    }

    @Test mutating func numberOfWatchedOriginsIsLimited() {
        let origins = (0..<100).map { Origin(scheme: .http, host: "localhost", port: 9000 + $0) }
        watch.watch(Set(origins), now: now)
        #expect(watch.origins.count == ListenerWatch.originCountMax)
        // The places of those that came back are taken by others.
        watch.watch(Set(origins).subtracting(watch.origins), now: now)
        #expect(watch.origins.count == ListenerWatch.originCountMax)
    }
}
