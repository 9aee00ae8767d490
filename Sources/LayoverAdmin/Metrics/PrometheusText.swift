import LayoverEngine

/// Metrics in the text format of Prometheus, version 0.0.4, or of OpenMetrics, version 1.0.0.
struct PrometheusText {
    /// The two differ in the names of counters and in the end of the text.
    enum Format {
        case prometheus, openMetrics

        var mediaType: String {
            switch self {
            case .prometheus: "text/plain; version=0.0.4; charset=utf-8"
            case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
            }
        }
    }

    enum Kind: String {
        /// Only grows, from the start of the process.
        case counter
        case gauge
        case histogram
    }

    private let format: Format
    private var lines = ""

    init(_ format: Format = .prometheus) { self.format = format }

    /// The whole text.
    var text: String { format == .openMetrics ? lines + "# EOF\n" : lines }

    private mutating func describe(_ name: String, _ kind: Kind, _ help: String) {
        // OpenMetrics describes the family, whose samples end in `_total`.
        let family = format == .openMetrics && kind == .counter && name.hasSuffix("_total") ? String(name.dropLast(6)) : name
        lines += "# HELP layover_\(family) \(help)\n# TYPE layover_\(family) \(kind.rawValue)\n"
    }

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
        describe(name, .histogram, help)
        for (value, histogram) in histograms { addSamples(name, "\(label)=\"\(Self.escaped(value))\"", histogram) }
    }

    /// The same without a label.
    mutating func add(_ name: String, _ help: String, _ histogram: Histogram) {
        describe(name, .histogram, help)
        addSamples(name, "", histogram)
    }

    private mutating func addSamples(_ name: String, _ label: String, _ histogram: Histogram) {
        let (first, whole) = label.isEmpty ? ("", "") : (label + ",", "{\(label)}")
        var total = 0
        for (bound, count) in zip(histogram.bounds, histogram.counts) {
            total += count
            lines += "layover_\(name)_bucket{\(first)le=\"\(Self.number(bound))\"} \(total)\n"
        }
        lines += "layover_\(name)_bucket{\(first)le=\"+Inf\"} \(histogram.count)\n"
        lines += "layover_\(name)_sum\(whole) \(Self.number(histogram.sum))\n"
        lines += "layover_\(name)_count\(whole) \(histogram.count)\n"
    }

    /// One line for each value of a label.
    mutating func add(
        _ name: String, _ kind: Kind, _ help: String, by label: String?, _ values: [(String, Double)]
    ) {
        describe(name, kind, help)
        for (value, number) in values {
            let labels = label.map { "{\($0)=\"\(Self.escaped(value))\"}" } ?? ""
            lines += "layover_\(name)\(labels) \(Self.number(number))\n"
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
