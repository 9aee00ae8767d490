import LayoverCore
import LayoverEngine
import NIOCore

/// A request that waits, and its route as the configuration has it now.
extension UpstreamRequest {
    /// Removes and sets what its route says, once more: a secret that was changed meanwhile goes with the next attempt.
    ///
    /// Does nothing where it says what it said. What a route adds, and what has a UUID in it, stays as it was at the first
    /// attempt: it comes beside what the client sent, and cannot be told from it.
    mutating func takeFields(of route: Route?) {
        guard let route else { return }
        let set = route.setFields.filter { !$0.value.revealed.contains("~uuid~") }
        let added = Set(route.addFields.map { $0.name.lowercased() })
        let removed = Set(route.removeFields.map { $0.lowercased() }).subtracting(added)
        let replaced = Set(set.map { $0.name.lowercased() })
        var kept = ByteBuffer()
        var before: [String] = []
        var hasRemoved = false
        for line in fields.readableBytesView.split(separator: 0) {
            let name = String(decoding: line.prefix { $0 != 0x3A && $0 != 0x3B }, as: UTF8.self).lowercased()
            if removed.contains(name) {
                hasRemoved = true
            } else if replaced.contains(name) {
                before.append(String(decoding: line, as: UTF8.self))
            } else {
                kept.writeBytes(line)
                kept.writeInteger(UInt8(0))
            }
        }
        guard hasRemoved || before != set.map(\.line) else { return }
        for field in set { kept.writeString(field.line + "\0") }
        fields = kept
    }
}

extension Route.Field {
    /// As it goes to libcurl: an empty value needs a semicolon (CURLOPT_HTTPHEADER).
    var line: String { value.revealed.isEmpty ? "\(name);" : "\(name): \(value.revealed)" }
}
