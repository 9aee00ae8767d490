import LayoverText
import Testing

struct EscapedTextTests {
    @Test func jsonStaysOneString() {
        #expect(EscapedText.json("\"\\\n\r\t\u{1}\u{7F}</é\u{2028}") == "\\\"\\\\\\n\\r\\t\\u0001\\u007f\\u003c/é\\u2028")
    }

    @Test(arguments: [
        (EscapedText.JSONForm.required, "\\\"\\\\\\n\\r\\t\\u0001\u{7F}\u{9B}</\u{2028}"),
        (.visible, "\\\"\\\\\\n\\r\\t\\u0001\\u007f\\u009b</\u{2028}"),
        (.markup, "\\\"\\\\\\n\\r\\t\\u0001\\u007f\\u009b\\u003c/\\u2028"),
    ])
    func eachFormEscapesItsOwn(form: EscapedText.JSONForm, json: String) {
        #expect(EscapedText.json("\"\\\n\r\t\u{1}\u{7F}\u{9B}</\u{2028}", form) == json)
    }

    @Test func aLineOfTextStaysOneLine() {
        #expect(EscapedText.visible("a \"b\"\n\u{1B}[2Jé\u{85}\\") == "a \"b\"\\n\\u001b[2Jé\\u0085\\")
    }
}
