import LayoverHTTP
import NIOCore

/// Everything a decoder said about one connection, with body events joined, so that two ways of
/// cutting the same bytes can be compared.
struct Transcript: Equatable {
    struct Field: Equatable {
        var name: [UInt8]
        var value: [UInt8]
    }

    struct Message: Equatable {
        var head: [UInt8] = []
        var method = ""
        var target = ""
        var minorVersion = 0
        var fields: [Field] = []
        var framing = BodyFraming.none
        var keepAlive = false
        var upgradeRequested = false
        var body: [UInt8] = []
        var trailers: [Field]?
        var isComplete = false
    }

    var messages: [Message] = []
    var error: FramingError?
    /// Bytes that were not taken.
    var rest: [UInt8] = []

    /// Decodes `bytes`, cut before each offset in `cuts` (ascending).
    init(of bytes: [UInt8], cuts: [Int] = [], limits: FramingLimits = .init()) {
        var decoder = RequestDecoder(limits: limits)
        var input = ByteBuffer()
        var start = 0
        for end in cuts + [bytes.count] {
            input.writeBytes(bytes[start..<end])
            start = end
            drain(&decoder, &input)
            if error != nil { break }
        }
        if error == nil { rest = Array(input.readableBytesView) }
    }

    private mutating func drain(_ decoder: inout RequestDecoder, _ input: inout ByteBuffer) {
        do throws(FramingError) {
            while let event = try decoder.next(&input) {
                take(event)
                // The tunnel's bytes are none of the decoder's business.
                if case .head(let head) = event, head.method == .connect { decoder.endOfMessages() }
            }
        } catch {
            self.error = error
        }
    }

    private mutating func take(_ event: RequestDecoder.Event) {
        switch event {
        case .head(let head):
            messages.append(Message(head))
        case .body(let bytes):
            messages[messages.count - 1].body.append(contentsOf: bytes.readableBytesView)
        case .end(let trailers):
            messages[messages.count - 1].trailers = trailers.map(Field.all)
            messages[messages.count - 1].isComplete = true
        }
    }
}

extension Transcript.Message {
    init(_ head: RequestHead) {
        self.head = Array(head.bytes.readableBytesView)
        method = head.methodString
        target = head.targetString
        minorVersion = head.version == .http10 ? 0 : 1
        fields = Transcript.Field.all(head.fields)
        framing = head.framing
        keepAlive = head.keepAlive
        upgradeRequested = head.upgradeRequested
        isComplete = head.method == .connect
    }
}

extension Transcript.Field {
    static func all(_ block: FieldBlock) -> [Self] {
        block.ranges.map {
            Self(
                name: Array(block.slice($0.name).readableBytesView),
                value: Array(block.slice($0.value).readableBytesView))
        }
    }
}
