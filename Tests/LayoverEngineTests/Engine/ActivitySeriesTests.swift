import LayoverCore
import Testing

@testable import LayoverEngine

struct ActivitySeriesTests {
    private static func at(_ seconds: Int64) -> Timestamp { Timestamp(nanoseconds: seconds * 1_000_000_000) }

    @Test func eventsAreCountedInTheirBucketAndTheLiveOnesAreCarriedOn() {
        var series = ActivitySeries()
        series.count(.parked, .waiting, live: 1, now: Self.at(10_001))
        series.count(.parked, .waiting, live: 2, now: Self.at(10_004))
        series.count(.attempted, .attempting, live: 2, now: Self.at(10_011))
        series.count(.ended, .delivered, live: 1, now: Self.at(10_012))
        series.count(.ended, .cancelled, live: 0, now: Self.at(10_013))
        series.count(.changed, .waiting, live: 0, now: Self.at(10_014))
        let buckets = series.all(now: Self.at(10_021))
        #expect(buckets.count == ActivitySeries.bucketCount)
        #expect(buckets.last?.beginsAt == Self.at(10_020))
        #expect(buckets.suffix(5).map(\.parked) == [2, 0, 0, 0, 0])
        #expect(buckets.suffix(5).map(\.live) == [2, 2, 0, 0, 0])
        #expect(buckets[177].attempted == 1 && buckets[177].delivered == 1 && buckets[177].ended == 1)
    }

    @Test func oldBucketsAreForgottenAndWhatWasLiveIsNot() {
        var series = ActivitySeries()
        series.count(.parked, .waiting, live: 7, now: Self.at(0))
        for second in stride(from: Int64(5), to: 2000, by: 5) { series.count(.changed, .waiting, live: 7, now: Self.at(second)) }
        series.count(.parked, .waiting, live: 8, now: Self.at(5000))
        let buckets = series.all(now: Self.at(5000))
        #expect(buckets.first?.live == 7 && buckets.last?.live == 8 && buckets.map(\.parked).reduce(0, +) == 1)
        #expect(series.all(now: Self.at(90_000)).allSatisfy { $0.live == 8 && $0.parked == 0 })
    }
}
