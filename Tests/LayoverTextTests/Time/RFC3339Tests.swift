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
}
