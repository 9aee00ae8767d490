import LayoverHTTP
import LayoverTestSupport
import NIOCore
import Testing

struct RequestFieldsTests {
    private static let fields: RequestFields = [
        "Accept": "a, b", "X-Empty": "", "cookie": "c=d; e=f;", "X-Colons": ":a:", "Cookie": "g", "X-Last": "",
    ]

    @Test func fieldsKeepTheirOrder() {
        #expect(Self.fields.map(\.name) == ["Accept", "X-Empty", "cookie", "X-Colons", "Cookie", "X-Last"])
        #expect(Self.fields.map(\.text) == ["a, b", "", "c=d; e=f;", ":a:", "g", ""])
        #expect(Self.fields.map(\.hasValue) == [true, false, true, true, true, false])
        #expect(RequestFields().isEmpty && !Self.fields.isEmpty)
    }

    @Test func namesAreCaseInsensitive() {
        #expect(Self.fields.texts(of: "COOKIE") == ["c=d; e=f;", "g"])
        #expect(Self.fields.values(of: "x-empty") == [ByteBuffer()])
        #expect(Self.fields.contains("x-colons") && Self.fields.contains("ACCEPT"))
        #expect(!Self.fields.contains("x-colon") && !Self.fields.contains("x-colons:") && !Self.fields.contains(""))
    }

    @Test func theOthersStayWhenFieldsAreRemoved() {
        var fields = Self.fields
        fields.removeAll { $0.isNamed("cookie") || $0.isNamed("x-last") }
        #expect(fields == ["Accept": "a, b", "X-Empty": "", "X-Colons": ":a:"])
        fields.removeAll { $0.isNamed("cookie") }
        #expect(fields == ["Accept": "a, b", "X-Empty": "", "X-Colons": ":a:"])
    }

    @Test func aFieldIsAppendedAsItIsOrWithAnotherValue() {
        var fields = RequestFields()
        for field in RequestFields(lines: ByteBuffer(string: "A:  x \0B: y\0")) {
            fields.append(field)
            fields.append(field, value: ByteBuffer(string: "z"))
        }
        #expect(fields.lines.visible == "A:  x |A:  z|B: y|B: z|")
    }

    @Test func inAMessageAnEmptyValueHasNothingBehindItsColon() {
        var out = ByteBuffer()
        RequestFields(lines: ByteBuffer(string: "A: 1\0B: \0C:\0D: \t\0E:\t1 \0no colon\0\0:\0F: ;\0")).write(into: &out)
        #expect(String(buffer: out) == "A: 1\r\nB:\r\nC:\r\nD:\r\nE:\t1 \r\nF: ;\r\n")
    }

    @Test func aLineWithoutAColonHasNoName() {
        let fields = RequestFields(lines: ByteBuffer(string: "Cookie\0Cookie;\0"))
        #expect(!fields.contains("cookie") && fields.texts(of: "Cookie;").isEmpty)
    }

    @Test func nothingOfAFieldIsPrinted() {
        for text in ["\(Self.fields)", String(reflecting: Self.fields), "\(Array(Self.fields))"] {
            #expect(!text.contains("Accept") && !text.contains("636f6f6b6965") && text.contains("bytes"), "\(text)")
        }
    }

    @Test func anyFieldsComeBackAsTheyWere() {
        let seed = UInt64.random(in: .min ... .max)
        var generator = SeededGenerator(seed: seed)
        for round in 0..<2000 {
            let pairs = RandomField.some(using: &generator)
            var fields = RequestFields()
            for pair in pairs { fields.append(pair.name, ByteBuffer(bytes: pair.value)) }
            let again = RequestFields(lines: fields.lines)
            #expect(again == fields)
            #expect(again.map { RandomField(name: $0.name, value: Array($0.value.readableBytesView)) } == pairs, "seed \(seed), round \(round)")
            guard let pair = pairs.randomElement(using: &generator) else { continue }
            let alike = pairs.filter { $0.name.lowercased() == pair.name.lowercased() }
            #expect(again.values(of: pair.name.uppercased()).map { Array($0.readableBytesView) } == alike.map(\.value), "seed \(seed)")
        }
    }
}
