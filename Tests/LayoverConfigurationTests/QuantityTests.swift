import Testing

@testable import LayoverConfiguration

@Suite struct QuantityTests {
    @Test(arguments: [
        ("1ms", Duration.milliseconds(1)), ("250ms", .milliseconds(250)), ("1.5s", .milliseconds(1500)),
        ("60s", .seconds(60)), ("10m", .seconds(600)), ("24h", .seconds(86_400)), ("7d", .seconds(604_800)),
        ("0.001s", .milliseconds(1)), ("3650d", .days(3650)), ("007s", .seconds(7)),
    ])
    func durationsAreRead(text: String, expected: Duration) throws {
        #expect(try Codec<Duration>.lifetime.read(.text(text)) == expected)
    }

    private static let noDurations = [
        "", "s", "10", "-1s", "+1s", "1 s", "1S", "1sec", "1.s", ".5s", "1,5s", "1h30m", "1e3s", "١s", "12 parsecs",
        "0.0000000001s", "1us",
    ]

    @Test(arguments: [
        (noDurations, "is not a duration (write 250ms, 10s, 5m or 24h)"), (["0s"], "is shorter than 1ms"),
        (["3651d", "99999999999999999999s", "9223372036854775807d"], "is longer than 3650d"),
    ])
    func invalidDurationsAreRefused(texts: [String], reason: String) {
        for text in texts {
            let refusal = #expect(throws: Refusal.self) { try Codec<Duration>.lifetime.read(.text(text)) }
            #expect(refusal?.message == "\(JSONValue.text(text).text) \(reason)")
        }
    }

    @Test(arguments: ["0s", "1ms", "250ms", "60s", "90s", "2m", "10m", "1h", "24h", "2d", "7d", "1500ms"])
    func durationsAreWrittenAsPeopleWriteThem(text: String) throws {
        let codec = Codec<Duration>.duration(from: .zero, to: .days(3650))
        #expect(codec.write(try codec.read(.text(text))) == .text(text))
    }

    @Test(arguments: [
        ("0B", 0), ("512B", 512), ("64KiB", 65_536), ("1.5MiB", 1_572_864), ("1GiB", 1 << 30),
        ("1TiB", 1 << 40),
        ("1024TiB", 1 << 50),
    ])
    func sizesAreRead(text: String, expected: Int) throws {
        #expect(try Codec<Int>.byteCount().read(.text(text)) == expected)
    }

    @Test(arguments: [
        (["", "64", "64KB", "64kib", "-1B", "1 KiB", "GiB"], "is not a size (write 512B, 64KiB, 64MiB or 1GiB)"),
        (
            ["1025TiB", "99999999999999999999B", "9999999999GiB", "0.5B", "1.3KiB"],
            "is more than 1024TiB or not a whole number of bytes"
        ),
    ])
    func invalidSizesAreRefused(texts: [String], reason: String) {
        for text in texts {
            let refusal = #expect(throws: Refusal.self) { try Codec<Int>.byteCount().read(.text(text)) }
            #expect(refusal?.message == "\"\(text)\" \(reason)")
        }
    }

    @Test(arguments: ["0B", "512B", "64KiB", "1536KiB", "1GiB", "3TiB"])
    func sizesAreWrittenAsTheyAreRead(text: String) throws {
        let codec = Codec<Int>.byteCount()
        #expect(codec.write(try codec.read(.text(text))) == .text(text))
    }
}
