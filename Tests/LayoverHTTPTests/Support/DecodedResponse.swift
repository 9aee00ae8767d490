import LayoverHTTP
import NIOCore

/// All that the decoder says about one response, with body events joined.
struct DecodedResponse: Equatable {
    var statuses: [Int] = []
    var heads: [String] = []
    var framings: [ResponseFraming] = []
    var body: [UInt8] = []
    var trailers: String?
    var isComplete = false
    var endsWithConnection = false
    var error: FramingError?
    /// Bytes that were not taken.
    var rest: [UInt8] = []

    /// Decodes `bytes`, cut before each offset in `cuts` (ascending).
    init(of bytes: [UInt8], isHeadRequest: Bool = false, allowsUpgrade: Bool = false, limits: FramingLimits = .init(), cuts: [Int] = []) {
        var decoder = ResponseDecoder(limits: limits)
        decoder.reset(isHeadRequest: isHeadRequest, allowsUpgrade: allowsUpgrade)
        var input = ByteBuffer()
        var start = 0
        for end in cuts + [bytes.count] {
            input.writeBytes(bytes[start..<end])
            start = end
            drain(&decoder, &input)
            if error != nil { return }
        }
        isComplete = decoder.isComplete
        endsWithConnection = decoder.endsWithConnection
        rest = Array(input.readableBytesView)
    }

    private mutating func drain(_ decoder: inout ResponseDecoder, _ input: inout ByteBuffer) {
        do throws(FramingError) {
            while let event = try decoder.next(&input) {
                switch event {
                case .head(let head):
                    statuses.append(head.status)
                    heads.append(head.bytes.visible)
                    framings.append(head.framing)
                case .body(let bytes): body.append(contentsOf: bytes.readableBytesView)
                case .end(let lines): trailers = lines?.visible
                }
            }
        } catch {
            self.error = error
        }
    }
}
