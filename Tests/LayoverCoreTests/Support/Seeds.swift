import Glibc

/// The seeds of a randomized test: a fixed row of them, and one that is new with each run and printed.
///
/// `LAYOVER_TEST_SEED=<number>` runs just that one again.
enum Seeds {
    static func row(_ count: Int) -> [UInt64] {
        if let text = getenv("LAYOVER_TEST_SEED"), let seed = UInt64(String(cString: text)) { return [seed] }
        let seed = UInt64.random(in: 1_000_000..<1_000_000_000)
        print("A new seed for this run: LAYOVER_TEST_SEED=\(seed)")
        return (1...UInt64(count)).map { $0 } + [seed]
    }
}
