package import Logging

/// A log whose lines are kept, from `info` on.
package struct RecordedLog: LogHandler {
    package let lines = Watched<[String]>([])
    package var logLevel = Logger.Level.info
    package var metadata: Logger.Metadata = [:]

    package init() {}

    package var logger: Logger { Logger(label: "test") { [self] _ in self } }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        let pairs = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        let line = "\(event.level) \(event.message): \(pairs.joined(separator: " "))"
        lines.update { $0.append(line) }
    }
}
