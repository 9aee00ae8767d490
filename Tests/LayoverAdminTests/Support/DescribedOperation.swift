/// An operation as `openapi.yaml` describes it.
struct DescribedOperation {
    private static let methods: Set<String> = ["get", "put", "post", "patch", "delete", "head", "options"]

    let path: String
    let method: String
    /// Lines of the operation, without the six spaces in front.
    let lines: [String]

    /// All of them, in the order of the text.
    static func all(in text: String) -> [DescribedOperation] {
        var found: [DescribedOperation] = []
        var path: String?
        var method: String?
        var lines: [String] = []
        func close() {
            if let path, let method { found.append(DescribedOperation(path: path, method: method, lines: lines)) }
            (method, lines) = (nil, [])
        }
        for line in text.split(separator: "\n").map(String.init) {
            let word = line.drop { $0 == " " }.prefix { $0 != ":" }
            if !line.hasPrefix("  ") {
                close()
                path = nil
            } else if line.hasPrefix("  /") {
                close()
                path = String(word)
            } else if path != nil, line.hasPrefix("    "), !line.hasPrefix("     "), methods.contains(String(word)) {
                close()
                method = word.uppercased()
            } else if line.hasPrefix("      ") {
                lines.append(String(line.dropFirst(6)))
            }
        }
        close()
        return found
    }

    /// The text of a member that stands on its line.
    subscript(name: String) -> String? {
        lines.first { $0.hasPrefix(name + ": ") }.map { String($0.dropFirst(name.count + 2)) }
    }

    /// The responses by their status, with the text that stands on the line of each.
    var responses: [String: String] {
        let block = lines.drop { $0 != "responses:" }.dropFirst().prefix { $0.hasPrefix("  ") }
        var responses: [String: String] = [:]
        for line in block where !line.hasPrefix("   ") {
            let parts = line.split(separator: ":", maxSplits: 1)
            let status = parts[0].filter { $0 != " " && $0 != "\"" }
            responses[status] = parts.count > 1 ? String(parts[1].drop { $0 == " " }) : ""
        }
        return responses
    }
}
