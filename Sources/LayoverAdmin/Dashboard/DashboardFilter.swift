import LayoverCore

/// The filter that a person types: words as `host:shop.example`, and text to look for.
///
/// `host:`, `state:`, `method:`, `lane:` and `incident:` take one value, in quotation marks if it has spaces. All other words
/// together are the text.
enum DashboardFilter {
    private static let names = ["host", "state", "method", "lane", "incident"]

    /// - Parameter filter: What the tab shows; a filter can only make it less.
    static func parse(_ text: String, in filter: EntryFilter) throws(Problem) -> EntryFilter {
        var filter = filter
        var (free, given): ([String], Set<String>) = ([], [])
        for word in try words(text) {
            guard let colon = word.firstIndex(of: ":"), !word.hasPrefix("http://"), !word.hasPrefix("https://"),
                word[..<colon].allSatisfy(\.isLetter), colon > word.startIndex
            else {
                free.append(word)
                continue
            }
            let (name, value) = (word[..<colon].lowercased(), String(word[word.index(after: colon)...]))
            guard names.contains(name) else {
                throw .badParameter("There is no '\(name):'. Use \(names.map { $0 + ":" }.joined(separator: " ")) or plain text.")
            }
            guard !value.isEmpty else { throw .badParameter("'\(name):' needs a value, such as \(name):\(example(name)).") }
            guard given.insert(name).inserted else { throw .badParameter("'\(name):' is given twice.") }
            try set(name, value, in: &filter)
        }
        if !free.isEmpty { filter.text = free.joined(separator: " ") }
        return filter
    }

    private static func set(_ name: String, _ value: String, in filter: inout EntryFilter) throws(Problem) {
        switch name {
        case "host": filter.host = value
        case "method": filter.method = value
        case "lane": filter.lane = value
        case "incident": filter.incident = try EntryFilter.incident(value)
        default: filter.states.formIntersection(try StateNames.states(StateNames.list(value)))
        }
    }

    private static func example(_ name: String) -> String {
        switch name {
        case "host": "shop.example"
        case "method": "POST"
        case "lane": "orders"
        case "state": "waiting"
        default: "…"
        }
    }

    /// The words between spaces; quotation marks keep spaces together.
    private static func words(_ text: String) throws(Problem) -> [String] {
        var (words, word, isQuoted): ([String], String, Bool) = ([], "", false)
        for character in text {
            switch character {
            case "\"": isQuoted.toggle()
            case " " where !isQuoted:
                if !word.isEmpty { words.append(word) }
                word = ""
            default: word.append(character)
            }
        }
        guard !isQuoted else { throw .badParameter("A quotation mark is not closed.") }
        return word.isEmpty ? words : words + [word]
    }
}
