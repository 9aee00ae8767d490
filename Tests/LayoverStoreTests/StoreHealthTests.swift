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

    @Test func failureIsLoggedAtItsBeginningAndItsEnd() async throws {
        let log = RecordedLog()
        let health = StoreHealth(logger: log.logger, pause: .milliseconds(1))
        for _ in 0..<50 { health.note([.failure(Self.full), .failure(Self.full)]) }
        #expect(log.lines.value == ["error: the store cannot save changes [full: Full.]"])
        #expect(health.lastFailure == Self.full)
        health.note([.success([.done])])
        #expect(health.lastFailure == nil)
        try await log.lines.wait("the end") { $0.count == 2 }
        #expect(log.lines.value.last?.hasPrefix("notice: the store can save changes again [refused=100") == true)
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
        let log = RecordedLog()
        let health = StoreHealth(logger: log.logger, pause: .seconds(3600))
        for _ in 0..<50 {
            health.note(Self.full)
            health.note([.success([.done])])
            #expect(health.lastFailure == nil)
        }
        #expect(log.lines.value.count == 1)
    }

    @Test func otherKindOfFailureIsLoggedOnce() {
        let log = RecordedLog()
        let health = StoreHealth(logger: log.logger, pause: .seconds(3600))
        for _ in 0..<3 {
            health.note(Self.full)
            health.note(Self.broken)
        }
        #expect(
            log.lines.value == [
                "error: the store cannot save changes [full: Full.]",
                "error: the store cannot save changes [io: Broken.]",
            ])
    }

    @Test func healthyStoreLogsNothing() {
        let log = RecordedLog()
        let health = StoreHealth(logger: log.logger, pause: .milliseconds(1))
        for _ in 0..<3 { health.note([.success([.done])]) }
        #expect(log.lines.value.isEmpty)
    }
}

/// A log whose lines are kept.
private struct RecordedLog: LogHandler {
    let lines = Watched<[String]>([])
    var logLevel = Logger.Level.trace
    var metadata: Logger.Metadata = [:]

    var logger: Logger { Logger(label: "test") { [self] _ in self } }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var parts: [String] = []
        if let error = event.metadata?["error"] { parts.append("\(error)") }
        for (key, value) in (event.metadata ?? [:]).sorted(by: { $0.key < $1.key }) where key != "error" {
            parts.append("\(key)=\(value)")
        }
        let line = "\(event.level): \(event.message) [\(parts.joined(separator: " "))]"
        lines.update { $0.append(line) }
    }
}
