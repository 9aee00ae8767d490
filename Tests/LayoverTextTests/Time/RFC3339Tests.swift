import LayoverTestSupport
import LayoverText
import Testing

struct RFC3339Tests {
    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (1_767_225_600_123_999_999, "2026-01-01T00:00:00.123Z"),
            (951_782_400_000_000_000, "2000-02-29T00:00:00.000Z"),
            (951_868_799_999_000_000, "2000-02-29T23:59:59.999Z"),
            (4_107_542_400_000_000_000, "2100-03-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
            (1_735_689_599_000_000_000, "2024-12-31T23:59:59.000Z"), (.max, "2262-04-11T23:47:16.854Z"),
        ] as [(Int64, String)])
    func timesAreUTCWithMilliseconds(nanoseconds: Int64, text: String) {
        #expect(RFC3339.text(nanoseconds: nanoseconds) == text)
    }

    @Test(
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("1970-01-01T00:00:00.000000001Z", 1),
            ("1970-01-01T01:00:00+01:00", 0), ("1969-12-31T23:30:00-00:30", 0), ("1969-12-31T23:59:59Z", -1_000_000_000),
            ("2026-11-21T03:52:00.5z", 1_795_233_120_500_000_000),
            ("2026-11-21 03:52:00.123456789999Z", 1_795_233_120_123_456_789),
            ("2024-02-29T00:00:00Z", 1_709_164_800_000_000_000), ("2000-02-29t00:00:00Z", 951_782_400_000_000_000),
            // A leap second.
            ("2016-12-31T23:59:60Z", 1_483_228_800_000_000_000),
            ("1678-01-01T00:00:00Z", -9_214_560_000_000_000_000), ("2262-01-01T00:00:00Z", 9_214_646_400_000_000_000),
        ] as [(String, Int64)])
    func timeIsRead(text: String, nanoseconds: Int64) {
        #expect(RFC3339.nanoseconds(of: text) == nanoseconds)
    }

    @Test(arguments: [
        "", "now", "2026-11-21", "2026-11-21T03:52:00", "2026-11-21T03:52Z", "2026-11-21T03:52:00.Z",
        "2026-11-21T03:52:00,5Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-02-29T00:00:00Z",
        "2100-02-29T00:00:00Z", "2026-04-31T00:00:00Z", "2026-01-00T00:00:00Z", "2026-01-01T24:00:00Z",
        "2026-01-01T00:60:00Z", "2026-01-01T00:00:61Z", "2026-01-01T00:00:00+24:00", "2026-01-01T00:00:00+0100",
        "2026-01-01T00:00:00+01", "2026-01-01T00:00:00Zz", " 2026-01-01T00:00:00Z", "+026-01-01T00:00:00Z",
        "2026-01-01T00:00:00Z\n", "12026-01-01T00:00:00Z", "2026-1-1T00:00:00Z", "٢٠٢٦-01-01T00:00:00Z",
    ])
    func invalidTimeIsRefused(text: String) {
        #expect(RFC3339.nanoseconds(of: text) == nil)
    }

    @Test func timesBeyondWhatCanBeCountedAreTheFirstOrTheLast() {
        for text in ["9999-12-31T23:59:60Z", "2262-04-11T23:47:16.854775808Z"] {
            #expect(RFC3339.nanoseconds(of: text) == .max, "\(text)")
        }
        for text in ["0000-01-01T00:00:00Z", "1677-09-21T00:12:43Z"] {
            #expect(RFC3339.nanoseconds(of: text) == .min, "\(text)")
        }
    }

    @Test func everyTimeThatIsWrittenIsReadAgain() {
        let seed = UInt64.random(in: .min ... .max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<20_000 {
            let milliseconds = Int64.random(in: -9_214_560_000_000 ... 9_214_646_400_000, using: &generator)
            let text = RFC3339.text(nanoseconds: milliseconds * 1_000_000)
            #expect(RFC3339.nanoseconds(of: text) == milliseconds * 1_000_000, "seed \(seed): \(text)")
        }
    }
}
