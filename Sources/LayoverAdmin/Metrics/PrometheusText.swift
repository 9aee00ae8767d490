import LayoverEngine

/// Metrics in the text format of Prometheus, version 0.0.4.
struct PrometheusText {
    enum Kind: String {
        /// Only grows, from the start of the process.
        case counter
        case gauge
        case histogram
    }

    private(set) var text = ""

    /// - Parameter name: Without `layover_`, which every name begins with.
    mutating func add(_ name: String, _ kind: Kind, _ help: String, _ value: Double?) {
        guard let value else { return }
        add(name, kind, help, by: nil, [("", value)])
    }

    mutating func add(_ name: String, _ kind: Kind, _ help: String, _ value: Int?) {
        add(name, kind, help, value.map(Double.init))
    }

    /// Cumulative buckets, sum and count for each value of a label.
    mutating func add(_ name: String, _ help: String, by label: String, _ histograms: [(String, Histogram)]) {
        text += "# HELP layover_\(name) \(help)\n# TYPE layover_\(name) \(Kind.histogram.rawValue)\n"
        for (value, histogram) in histograms {
            let value = "\(label)=\"\(Self.escaped(value))\""
            var total = 0
            for (bound, count) in zip(Histogram.bounds, histogram.counts) {
                total += count
                text += "layover_\(name)_bucket{\(value),le=\"\(Self.number(bound))\"} \(total)\n"
            }
            text += "layover_\(name)_bucket{\(value),le=\"+Inf\"} \(histogram.count)\n"
            text += "layover_\(name)_sum{\(value)} \(Self.number(histogram.sum))\n"
            text += "layover_\(name)_count{\(value)} \(histogram.count)\n"
        }
    }

    /// One line for each value of a label.
    mutating func add(
        _ name: String, _ kind: Kind, _ help: String, by label: String?, _ values: [(String, Double)]
    ) {
        text += "# HELP layover_\(name) \(help)\n# TYPE layover_\(name) \(kind.rawValue)\n"
        for (value, number) in values {
            let labels = label.map { "{\($0)=\"\(Self.escaped(value))\"}" } ?? ""
            text += "layover_\(name)\(labels) \(Self.number(number))\n"
        }
    }

    private static func number(_ value: Double) -> String {
        Int64(exactly: value).map(String.init) ?? String(value)
    }

    private static func escaped(_ value: String) -> String {
        value.map { character in
            switch character {
            case "\\": "\\\\"
            case "\"": "\\\""
            case "\n": "\\n"
            default: String(character)
            }
        }.joined()
    }
}
