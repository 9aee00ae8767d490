import Foundation
import Testing

/// Plays rounds until one says what is wrong.
///
/// `LAYOVER_FUZZ_SEED` repeats a run; `LAYOVER_FUZZ_ROUNDS` makes it longer.
///
/// - Returns: How many rounds were played.
@discardableResult
func fuzz<Maker>(
    _ name: String, roundCount usual: Int, _ make: (UInt64) -> Maker, round: (inout Maker) -> String?
) -> Int {
    let environment = ProcessInfo.processInfo.environment
    let seed = environment["LAYOVER_FUZZ_SEED"].flatMap(UInt64.init) ?? .random(in: 0...(.max))
    let roundCount = environment["LAYOVER_FUZZ_ROUNDS"].flatMap(Int.init) ?? usual
    print("\(name) fuzz: LAYOVER_FUZZ_SEED=\(seed) LAYOVER_FUZZ_ROUNDS=\(roundCount)")
    var maker = make(seed)
    for number in 0..<roundCount {
        guard let flaw = round(&maker) else { continue }
        Issue.record("seed \(seed), round \(number): \(flaw)")
        return number
    }
    return roundCount
}
