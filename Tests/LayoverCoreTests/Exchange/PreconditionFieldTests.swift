import Testing

@testable import LayoverCore

struct PreconditionFieldTests {
    @Test(arguments: [
        ("If-Match", "\"1\""), ("if-none-match", "*"), ("IF-UNMODIFIED-SINCE", "x"), ("If", "(<urn:1>)"), ("Overwrite", "F"),
        ("overwrite", "f"), ("If-Schedule-Tag-Match", "\"1\""), ("x-goog-if-generation-match", "0"),
        ("x-amz-copy-source-if-match", "\"1\""), ("x-amz-if-match-size", "7"), ("Repeatability-Request-ID", "1"),
        ("Repeatability-First-Sent", "x"),
    ])
    func conditionalFieldIsAPrecondition(name: String, value: String) {
        #expect(PreconditionField.isOne(name, value: value))
    }

    @Test(arguments: [
        ("Overwrite", "T"), ("Iffy", "1"), ("X-If-Match", "1"), ("Idempotency-Key", "1"), ("x-amz-date", "1"),
        ("x-amz-meta-ifs", "1"), ("x-goog-meta-if-match", "1"), ("Prefer", "if-match"), ("", ""),
    ])
    func otherFieldIsNone(name: String, value: String) {
        #expect(!PreconditionField.isOne(name, value: value))
    }
}
