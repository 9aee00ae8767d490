import LayoverConfiguration
import Logging
import Synchronization

/// The level from which on messages are written; a reload may move it.
final class LogThreshold: Sendable {
    private let index: Atomic<Int>

    init(_ level: LogSettings.Level) { index = Atomic(Self.index(of: level)) }

    func set(_ level: LogSettings.Level) { index.store(Self.index(of: level), ordering: .relaxed) }

    var level: Logger.Level { Logger.Level.allCases[index.load(ordering: .relaxed)] }

    private static func index(of level: LogSettings.Level) -> Int {
        let level = Logger.Level(rawValue: level.rawValue) ?? .info
        return Logger.Level.allCases.firstIndex(of: level) ?? 0
    }
}
