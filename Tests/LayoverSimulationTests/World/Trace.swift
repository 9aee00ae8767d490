/// The events of a simulation, one line each. It costs nothing while it is off; a seed that fails is run again
/// with it.
struct Trace {
    let isOn: Bool
    private(set) var lines: [String] = []

    init(isOn: Bool) { self.isOn = isOn }

    mutating func add(at nanoseconds: Int64, _ line: () -> String) {
        guard isOn else { return }
        let tenths = (nanoseconds - 1_000_000_000) / 100_000
        lines.append("\(Double(tenths) / 10) ms  \(line())")
    }
}
