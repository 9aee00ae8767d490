import LayoverTestSupport
import Logging

/// A log whose lines are kept, from `info` on.
struct RecordedLog: LogHandler {
    let lines = Watched<[String]>([])
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]

    var logger: Logger { Logger(label: "test") { [self] _ in self } }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let pairs = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        let line = "\(event.level) \(event.message): \(pairs.joined(separator: " "))"
        lines.update { $0.append(line) }
    }
}
