import Foundation
import Testing

@testable import LayoverConfiguration

/// Every file is either loaded or refused in complete lines; none causes a crash.
@Suite struct StrangeConfigurationTests {
    private static let strange: [JSONValue] = [
        .null, .bool(true), .integer(0), .integer(-1), .integer(.max), .integer(.min), .number(1e308),
        .number(-0.0),
        .text(""), .text("0s"), .text("99999999999999999999d"), .text("0.000000001d"), .text("-1s"),
        .text("1e9GiB"),
        .text("[::"), .text("[]:1"), .text(":"), .text("unix:"), .text("*."), .text("http://@:/"),
        .text("https://[::1"),
        .text("\u{0}"), .text("\u{1F469}\u{200D}\u{1F4BB}"), .text(String(repeating: "a", count: 5000)),
        .array([]),
        .array([.null]), .array([.array([])]), .object([:]), .object(["": .null]),
        .object(["a": .object([:])]),
    ]

    @Test func everyValueAtEveryKeyIsLoadedOrRefused() {
        var refusedCount = 0
        for (section, path) in Self.places {
            for value in Self.strange {
                let tree = path.reversed().reduce(value) { .object([$1: $0]) }
                let text = section.reversed().reduce(tree) { .object([$1: $0]) }.text
                let lines = complaints(text)
                refusedCount += lines.isEmpty ? 0 : 1
                #expect(lines.allSatisfy { $0.hasPrefix("config.json: ") && !$0.contains("\n") }, "\(text)")
            }
        }
        #expect(refusedCount > Self.places.count * Self.strange.count / 2)
    }

    @Test func everyTextInEveryVariableIsLoadedOrRefused() {
        let texts =
            Self.strange.map { if case .text(let text) = $0 { text } else { $0.text } } + [
                "{", "[1,", "a,,b", " ",
            ]
        let file = #"{"policies": {"p": {}}, "routes": {"r": {}}}"#
        for (section, path) in Self.places {
            let address = GivenValues.address(ofDotted: (section + path).joined(separator: "."))
            let name = address?.environmentName ?? ""
            #expect(!name.isEmpty)
            for text in texts {
                let lines = complaints(file, environment: [name: text])
                #expect(lines.allSatisfy { $0.hasPrefix(name) && !$0.contains("\n") }, "\(name)=\(text)")
            }
        }
    }

    private static let places: [([String], [String])] =
        Schema.global.map { ([], $0.path) } + Schema.policy.map { (["policies", "p"], $0.path) }
        + Schema.route.map { (["routes", "r"], $0.path) }
}
