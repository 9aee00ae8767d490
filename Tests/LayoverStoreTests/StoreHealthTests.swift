import Dispatch
import LayoverEngine
import LayoverTestSupport
import Logging
import Synchronization
import Testing

@testable import LayoverStore

/// Log lines about a failing store.
struct StoreHealthTests {
    private static let full = StoreFailure(.full, "Full.")
    private static let broken = StoreFailure(.io, "Broken.")
    private let log: RecordedLog

    init() {
        var log = RecordedLog()
        log.logLevel = .trace
        self.log = log
    }

    @Test func failureIsLoggedAtItsBeginningAndItsEnd() async throws {
        let health = StoreHealth(logger: log.logger, pause: .milliseconds(1))
        for _ in 0..<50 { health.note([.failure(Self.full), .failure(Self.full)]) }
        #expect(log.lines.value == ["error the store cannot save changes: error=full: Full."])
        #expect(health.lastFailure == Self.full)
        health.note([.success([.done])])
        #expect(health.lastFailure == nil)
        try await log.lines.wait("the end") { $0.count == 2 }
        #expect(log.lines.value.last?.hasPrefix("notice the store can save changes again: refused=100") == true)
    }

    @Test func commitWithoutChangesProvesNothing() {
        let health = StoreHealth(logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        health.note([.failure(StoreFailure(.io, "Bad.", mayBeStored: true))])
        health.note([.success([])])
        #expect(health.lastFailure?.mayBeStored == true)
        health.note([.success([.done])])
        #expect(health.lastFailure == nil)
    }

    /// On a full disk what needs no room goes through.
    @Test func successInBetweenDoesNotEndTheFailure() async throws {
        let health = StoreHealth(logger: log.logger, pause: .seconds(3600))
        for _ in 0..<50 {
            health.note(Self.full)
            health.note([.success([.done])])
            #expect(health.lastFailure == nil)
        }
        #expect(log.lines.value.count == 1)
    }

    @Test func otherKindOfFailureIsLoggedOnce() {
        let health = StoreHealth(logger: log.logger, pause: .seconds(3600))
        for _ in 0..<3 {
            health.note(Self.full)
            health.note(Self.broken)
        }
        #expect(
            log.lines.value == [
                "error the store cannot save changes: error=full: Full.",
                "error the store cannot save changes: error=io: Broken.",
            ])
    }

    @Test func healthyStoreLogsNothing() {
        let health = StoreHealth(logger: log.logger, pause: .milliseconds(1))
        for _ in 0..<3 { health.note([.success([.done])]) }
        #expect(log.lines.value.isEmpty)
    }
}
