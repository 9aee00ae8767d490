import Foundation
import LayoverConfiguration
import LayoverText
import Logging
import Synchronization

/// Writes one line for each log message to standard error, for people or as JSON.
///
/// Whatever came from outside is escaped: a URL with a line break or a terminal sequence in it cannot
/// make a second line or colour the terminal. Logging never waits: see `LogLines`.
struct LineLogHandler: LogHandler {
    enum Format: Sendable { case text, json }

    /// The level that was set on this handler; nil: the level of the threshold applies.
    private var ownLevel: Logger.Level?
    private let threshold: LogThreshold
    var metadata: Logger.Metadata = [:]
    let format: Format
    private let lines: LogLines

    init(threshold: LogThreshold, format: Format, to lines: LogLines = .standardError) {
        self.threshold = threshold
        self.format = format
        self.lines = lines
    }

    var logLevel: Logger.Level {
        get { ownLevel ?? threshold.level }
        set { ownLevel = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let all = metadata.merging(event.metadata ?? [:]) { _, new in new }
        let pairs = all.sorted { $0.key < $1.key }.map { ($0.key, "\($0.value)") }
        let line = Self.line(
            format: format, time: Date(), level: event.level, message: event.message.description, pairs: pairs)
        lines.write(line)
    }

    static func line(
        format: Format, time: Date, level: Logger.Level, message: String, pairs: [(String, String)]
    ) -> String {
        let stamp =
            time.ISO8601Format(.iso8601(timeZone: .gmt, includingFractionalSeconds: true)) + "Z"
        switch format {
        case .text:
            let rest = pairs.map { " \($0.0)=\(EscapedText.visible($0.1))" }.joined()
            return "\(stamp) \(level.rawValue) \(EscapedText.visible(message))\(rest)"
        case .json:
            let fixed = [("time", stamp), ("level", level.rawValue), ("message", message)]
            let members = (fixed + pairs).map { "\"\($0.0)\":\"\(EscapedText.json($0.1, .visible))\"" }
            return "{\(members.joined(separator: ","))}"
        }
    }
}

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
