import LayoverCore

/// The query of a request: every name known, none twice.
struct QueryParameters {
    private var values: [String: String] = [:]

    /// - Parameter known: The names that are allowed.
    init(_ query: String?, known: Set<String>) throws(AdminProblem) {
        for pair in (query ?? "").split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = try Self.decoded(parts[0])
            guard known.contains(name) else {
                let names = known.sorted().joined(separator: ", ")
                throw .badParameter(
                    "Unknown parameter '\(name)'. "
                        + (known.isEmpty ? "This call takes none." : "Known: \(names)."))
            }
            let value = try Self.decoded(parts.count > 1 ? parts[1] : "")
            guard values.updateValue(value, forKey: name) == nil else {
                throw .badParameter("'\(name)' is given twice.")
            }
        }
    }

    /// The value of a parameter; nil if the parameter is absent or empty.
    subscript(name: String) -> String? { values[name].flatMap { $0.isEmpty ? nil : $0 } }

    /// The value of a parameter, also an empty one; nil if the parameter is absent.
    func given(_ name: String) -> String? { values[name] }

    /// The most elements of a page; nil if the parameter is absent. An empty value is no number.
    func limit() throws(AdminProblem) -> Int? {
        guard let text = values["limit"] else { return nil }
        guard let limit = Int(text), (1...PendingQuery.pageCountMax).contains(limit) else {
            throw .badParameter("'limit' must be a number from 1 to \(PendingQuery.pageCountMax).")
        }
        return limit
    }

    private static func decoded(_ text: Substring) throws(AdminProblem) -> String {
        let spaced = String(text.map { $0 == "+" ? " " : $0 })
        guard spaced.contains("%") else { return spaced }
        guard let decoded = TargetText.percentDecoded(spaced) else {
            throw .badParameter("The query is not percent-encoded UTF-8.")
        }
        return decoded
    }
}
