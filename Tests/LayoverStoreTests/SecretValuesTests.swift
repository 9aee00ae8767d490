@testable import LayoverStore
import LayoverTestSupport
import NIOCore
import Testing

@Suite struct SecretValuesTests {
    private let requests = SecretValues(names: ["authorization", "cookie"], end: .null)
    private let answers = SecretValues(names: ["set-cookie"], end: .lineBreak)

    @Test func secretValuesLeaveTheirLines() {
        let (clear, secrets) = requests.split(ByteBuffer(string: "A: 1\0Cookie: c=1\0COOKIE:c=2\0Cookies: x\0Cookie: \0"))
        #expect(String(buffer: clear) == "A: 1\0Cookie: \0COOKIE:\0Cookies: x\0Cookie: \0")
        #expect(secrets == [.init(line: 1, value: Array("c=1".utf8)), .init(line: 2, value: Array("c=2".utf8))])
    }

    @Test(arguments: [
        "", "A: 1\0", "Cookie: a\0", "cookie:\0", "Cookie: \0", "Authorization:\t Basic x\0B: \0Cookie: a: b; c\0",
        "Cookie: \u{80}\u{FF}\0A: b\0cOOkie: 2\0",
    ])
    func requestsComeBack(text: String) {
        let (clear, secrets) = requests.split(ByteBuffer(string: text))
        #expect(String(buffer: requests.join(clear, secrets)) == text)
    }

    @Test(arguments: ["", "Set-Cookie: a=b\r\n", "Server: x\r\nset-cookie: 1\r\nSet-Cookie:2\r\nDate: y\r\n"])
    func answersComeBack(text: String) {
        let (clear, secrets) = answers.split(ByteBuffer(string: text))
        #expect(String(buffer: answers.join(clear, secrets)) == text)
        #expect(!String(buffer: clear).contains("a=b"))
    }

    @Test func otherFieldsAreNotCopied() {
        let fields = ByteBuffer(string: "A: 1\0B: 2\0")
        let (clear, secrets) = requests.split(fields)
        #expect(clear == fields)
        #expect(secrets.isEmpty)
    }

    @Test func proxyAuthorizationIsRemovedWithItsLine() {
        let (clear, secrets) = requests.split(
            ByteBuffer(string: "proxy-AUTHORIZATION: x\0Cookie: a\0Proxy-Authorization: \0B: 2\0"))
        #expect(String(buffer: requests.join(clear, secrets)) == "Cookie: a\0B: 2\0")
    }

    /// Any bytes at all: nothing traps, and where every line has its end, everything comes back.
    @Test func anyLinesComeBack() {
        let seed = UInt64.random(in: .min ... .max)
        var generator = SeededGenerator(seed: seed)
        let pieces = ["Cookie", "Authorization", "A", ":", ": ", ";", " ", "\t", "\0", "\0", "\r", "x", "\u{FF}"]
        for round in 0..<5000 {
            var text = ""
            for _ in 0..<Int.random(in: 0...20, using: &generator) { text += pieces.randomElement(using: &generator) ?? "" }
            text += "\0"
            let (clear, secrets) = requests.split(ByteBuffer(string: text))
            #expect(String(buffer: requests.join(clear, secrets)) == text, "seed \(seed), round \(round)")
        }
    }
}
