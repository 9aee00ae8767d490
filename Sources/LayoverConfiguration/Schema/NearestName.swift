/// Finds the name that a misspelt one was probably meant to be.
enum NearestName {
    /// The nearest of the names, if it is near enough: a third of its letters may differ, two
    /// always.
    static func of(_ name: String, among names: [String]) -> String? {
        let name = name.lowercased()
        let ranked = names.sorted().map { ($0, distance(name, $0.lowercased())) }
        guard let best = ranked.min(by: { $0.1 < $1.1 }), best.1 <= max(2, best.0.count / 3),
            best.1 < best.0.count
        else { return nil }
        return best.0
    }

    /// The message about an unknown name.
    static func complaint(_ name: String, known: [String]) -> String {
        if let nearest = of(name, among: known) { return "unknown key (did you mean \(nearest)?)" }
        // A list that fills the screen helps nobody.
        guard known.count <= 12 else { return "unknown key" }
        return "unknown key (known here: \(known.sorted().joined(separator: ", ")))"
    }

    /// Letters to insert, delete, replace or swap with their neighbour (optimal string alignment).
    private static func distance(_ one: String, _ other: String) -> Int {
        let (left, right) = (Array(one.unicodeScalars.prefix(64)), Array(other.unicodeScalars.prefix(64)))
        var rows = [Array(0...right.count)]
        for i in 0..<left.count {
            var row = [i + 1]
            for j in 0..<right.count {
                var cost = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (left[i] == right[j] ? 0 : 1))
                if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
                    cost = min(cost, rows[i - 1][j - 1] + 1)
                }
                row.append(cost)
            }
            rows.append(row)
        }
        return rows[left.count][right.count]
    }
}
