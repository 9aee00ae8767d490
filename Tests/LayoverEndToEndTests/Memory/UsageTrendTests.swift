import LayoverTestSupport
import Testing

/// Made-up readings of ten minutes, with noise and bursts as large bodies make them.
struct UsageTrendTests {
    /// - Parameter leak: Bytes per second.
    private static func readings(
        seed: UInt64, leak: Int = 0, secondsPerDescriptor: Int? = nil, secondsPerThread: Int? = nil
    ) -> [Usage] {
        var generator = SeededGenerator(seed: seed)
        return (0..<600).map { second in
            // The usage grows in the first two minutes, as caches and pools fill.
            let settled = (60 << 20) + min(second, 120) * (128 << 10)
            let noise = Int.random(in: -(3 << 19)...(3 << 19), using: &generator)
            let isBurst = Int.random(in: 0..<6, using: &generator) == 0
            let burst = isBurst ? Int.random(in: 0...(10 << 20), using: &generator) : 0
            let descriptorCount = 100 + Int.random(in: -20...20, using: &generator)
            let descriptorLeak = secondsPerDescriptor.map { second / $0 } ?? 0
            let threadLeak = secondsPerThread.map { second / $0 } ?? 0
            return Usage(
                second: Double(second), residentByteCount: settled + noise + burst + leak * second,
                descriptorCount: descriptorCount + descriptorLeak, threadCount: 27 + threadLeak)
        }
    }

    @Test(arguments: UInt64(1)...20)
    func flatUsageWithNoiseAndBurstsPasses(seed: UInt64) {
        let trend = UsageTrend(Self.readings(seed: seed))
        #expect(trend.excesses.isEmpty, "\(trend)")
    }

    @Test(arguments: UInt64(1)...20)
    func leakOfTenKibibytesPerSecondIsFound(seed: UInt64) {
        let trend = UsageTrend(Self.readings(seed: seed, leak: 10 << 10))
        #expect(trend.excesses.count == 1 && trend.excesses.first?.hasPrefix("memory") == true, "\(trend)")
    }

    @Test func leakOfDescriptorsIsFound() {
        let trend = UsageTrend(Self.readings(seed: 1, secondsPerDescriptor: 8))
        #expect(trend.excesses.count == 1 && trend.excesses.first?.hasPrefix("descriptors") == true, "\(trend)")
    }

    @Test func leakOfThreadsIsFound() {
        let trend = UsageTrend(Self.readings(seed: 1, secondsPerThread: 60))
        #expect(trend.excesses.count == 1 && trend.excesses.first?.hasPrefix("threads") == true, "\(trend)")
    }

    @Test func trendIsComputedFromTheReadings() {
        let trend = UsageTrend(
            (0..<60).map { second in
                Usage(second: Double(second), residentByteCount: second << 10, descriptorCount: second == 30 ? 90 : 7, threadCount: 3)
            })
        #expect(trend.resident.start == 0)
        #expect(trend.resident.middle == 30 << 10)
        #expect(trend.resident.last == 50 << 10)
        #expect(trend.resident.peak == 59 << 10)
        #expect(abs(trend.residentGrowthPerHour - Double(3600 << 10)) < 1)
        #expect(trend.descriptors.peak == 90 && trend.descriptors.middle == 7)
        #expect(trend.threads.peak == 3)
    }

    @Test func noReadingsGiveAnEmptyTrend() {
        let trend = UsageTrend([])
        #expect(trend.resident.last == 0 && trend.excesses.isEmpty)
    }
}
