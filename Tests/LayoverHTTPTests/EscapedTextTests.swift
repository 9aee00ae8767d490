import LayoverHTTP
import Testing

struct EscapedTextTests {
    @Test func markupBecomesText() {
        #expect(
            EscapedText.html("<a b=\"c\" d='e'>&`\u{0}\u{1B}é\u{85}") == "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;&#96;\u{FFFD}\u{FFFD}é\u{FFFD}")
    }

    @Test func jsonStaysOneString() {
        #expect(EscapedText.json("\"\\\n\r\t\u{1}\u{7F}</é\u{2028}") == "\\\"\\\\\\n\\r\\t\\u0001\\u007f\\u003c/é\\u2028")
    }
}
